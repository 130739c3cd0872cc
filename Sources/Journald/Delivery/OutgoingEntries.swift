// SPDX-License-Identifier: Apache-2.0

/// The entries that were read from the source and are not all sent, encoded for journald.
struct OutgoingEntries {
    /// The maximum number of entries taken from the source at once.
    private static let entriesPerRead = 1_024

    private let source: any JournalSource
    private(set) var buffer: JournalEntryBuffer
    /// The index of the first entry that is not sent.
    private var next = 0

    /// - Parameter buffer: what encodes the entries; empty.
    init(_ source: any JournalSource, _ buffer: JournalEntryBuffer) {
        self.source = source
        self.buffer = buffer
    }

    /// Whether all that were read are sent.
    var isSent: Bool { next >= buffer.count }

    mutating func removeAll() {
        buffer.removeAll()
        next = 0
    }

    /// Encodes the entries to come with another buffer, which is empty.
    mutating func encode(with buffer: JournalEntryBuffer) {
        self.buffer = buffer
        next = 0
    }

    /// Reads the entries that follow a number; false if there is none.
    mutating func fill(after sequence: UInt64, limit: Int) throws -> Bool {
        removeAll()
        do {
            try source.read(after: sequence, limit: min(limit, Self.entriesPerRead), into: &buffer)
        } catch {
            buffer.removeAll()
            throw error
        }
        return !buffer.isEmpty
    }

    /// The entries of the next datagram by their indices; nil when none may be sent now.
    mutating func nextDatagram(of session: inout DeliverySession) -> Range<Int>? {
        session.nextDatagram(in: buffer, from: &next)
    }

    /// A datagram with these entries is in journald's queue.
    mutating func sent(_ range: Range<Int>) { next = range.upperBound }

    /// The numbers of entries that follow one another.
    func sequences(of range: Range<Int>) -> ClosedRange<UInt64> {
        buffer.sequence(at: range.lowerBound)...buffer.sequence(at: range.upperBound - 1)
    }
}
