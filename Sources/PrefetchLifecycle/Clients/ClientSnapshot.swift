// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The cumulative counters that a client sent with an event, by the places of `StageTally`.
struct ClientSnapshot {
    let time: Timestamp
    private var values: InlineArray<8, UInt64?> = .init(repeating: nil)
    /// All failures, where the client counts them without their reasons.
    private(set) var failures: UInt64?

    /// The largest value that can be compared.
    static let limit = UInt64(UInt32.max)

    init(_ event: borrowing Event, in bytes: Span<UInt8>) throws(EventRecordError) {
        time = event.timestamp
        var values = values
        var failures: UInt64?
        try event.forEachClientCounter(in: bytes) { counter, value in
            switch counter {
            case .scheduled: values[0] = value
            case .executed: values[1] = value
            case .success: values[2] = value
            case .used: values[3] = value
            case .failureNetwork: values[4] = value
            case .failureAuth: values[5] = value
            case .failureSystem: values[6] = value
            case .failureOther: values[7] = value
            case .failure: failures = value
            }
        }
        self.values = values
        self.failures = failures
    }

    subscript(place: Int) -> UInt64? { values[place] }

    /// Whether every value is one that a counter of stages can have.
    var isPlausible: Bool {
        (failures ?? 0) <= Self.limit && (0..<StageTally.count).allSatisfy { (values[$0] ?? 0) <= Self.limit }
    }
}
