// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Journald

/// Delivers the C loop's entries through the confirmed writer and waits until the last one is confirmed.
enum ConfirmedDelivery {
    static func deliver(upTo last: UInt64) throws {
        let confirmed = DispatchSemaphore(value: 0)
        let configuration = JournalDeliveryConfiguration(
            identifier: "journal-benchmark",
            streamField: "DNP_LEDGER",
            stream: "00112233445566778899aabbccddeeff",
            sequenceField: "DNP_SEQ"
        )
        let source = SameEntries(last: last)
        let writer = try ConfirmedJournalWriter(configuration, from: .start, source: source) { position in
            if position >= last { confirmed.signal() }
        }
        guard confirmed.wait(timeout: .now() + .seconds(60)) == .success else {
            throw BenchmarkFailure("journald confirmed too little in a minute: \(writer.statistics)")
        }
    }
}
