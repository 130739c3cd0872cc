// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import Journald

/// A writer on a test's journald whose progress can be waited for.
final class TestDelivery: Sendable {
    let journald: TestJournald
    let source: NumberedSource
    let writer: ConfirmedJournalWriter
    private let confirmations: WakeDescriptor

    init(
        _ journald: TestJournald,
        _ source: NumberedSource,
        from checkpoint: JournalCheckpoint = .start,
        adjust: (inout JournalDeliveryConfiguration) -> Void = { _ in }
    ) throws {
        self.journald = journald
        self.source = source
        let confirmations = try WakeDescriptor()
        self.confirmations = confirmations
        var configuration = Self.configuration(journald.namespace)
        adjust(&configuration)
        writer = try ConfirmedJournalWriter(configuration, from: checkpoint, source: source) { _ in
            confirmations.wake()
        }
    }

    static let identifier = "journald-tests"

    static func configuration(_ namespace: String) -> JournalDeliveryConfiguration {
        var configuration = JournalDeliveryConfiguration(
            identifier: identifier,
            streamField: "TEST_STREAM",
            stream: "0123456789abcdef",
            sequenceField: "TEST_SEQ",
            location: .namespace(namespace)
        )
        configuration.markerTimeout = .seconds(1)
        configuration.confirmationTimeout = .seconds(1)
        configuration.firstPause = .milliseconds(20)
        configuration.longestConnectPause = .milliseconds(100)
        configuration.longestPause = .milliseconds(500)
        return configuration
    }

    /// Gives the writer more to deliver.
    func extend(to number: UInt64) {
        source.extend(to: number)
        writer.wake()
    }

    /// Waits until all entries up to a number are confirmed.
    func waitForPosition(_ number: UInt64) throws {
        try wait(for: "position \(number)") { $0.position >= number }
    }

    func wait(for what: String, _ holds: (JournalDeliveryStatistics) -> Bool) throws {
        try Deadline().wait(for: "\(what); \(writer.statistics)", wakingOn: confirmations.descriptor) {
            confirmations.clear()
            return holds(writer.statistics)
        }
    }
}

extension JournalDeliveryConfiguration {
    /// Gives journald all the time of a test, for what holds only while it answers: a writer that waits in vain
    /// synchronises again.
    mutating func waitForLateAnswers() {
        markerTimeout = .seconds(600)
        confirmationTimeout = .seconds(600)
    }
}

/// Expects each number of a range once, and no other.
func expectOnce(
    _ numbers: [UInt64],
    _ range: ClosedRange<UInt64>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let counts = Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
    let missing = range.filter { counts[$0] == nil }
    let repeated = counts.filter { $0.value > 1 }.keys.sorted()
    let foreign = counts.keys.filter { !range.contains($0) }.sorted()
    #expect(missing.isEmpty, "\(missing.count) missing", sourceLocation: sourceLocation)
    #expect(repeated.isEmpty, "\(repeated.count) repeated", sourceLocation: sourceLocation)
    #expect(foreign.isEmpty, "\(foreign.count) not expected", sourceLocation: sourceLocation)
}

/// A source of numbered entries, with more to come.
final class NumberedSource: JournalSource {
    private let last: Atomic<UInt64>
    private let padding: String
    private let isLeftOut: @Sendable (UInt64) -> Bool
    let reads = Atomic<Int>(0)

    init(upTo last: UInt64, padding: String = "", leavingOut: @escaping @Sendable (UInt64) -> Bool = { _ in false }) {
        self.last = Atomic(last)
        self.padding = padding
        isLeftOut = leavingOut
    }

    func extend(to number: UInt64) {
        last.store(number, ordering: .releasing)
    }

    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
        reads.add(1, ordering: .relaxed)
        let last = last.load(ordering: .acquiring)
        guard sequence < last else { return }
        for number in sequence + 1...last {
            guard buffer.count < limit, !buffer.isFull else { return }
            guard !isLeftOut(number) else { continue }
            try buffer.append(sequence: number) { entry in
                entry.append(.priority, 6)
                entry.append(.message, "entry \(number)\(padding)")
                entry.append("TEST_LENGTH", padding.utf8.count)
            }
        }
    }
}
