// SPDX-License-Identifier: Apache-2.0

/// One event, decoded from its compact record.
///
/// Numbers and times are values; texts are ranges into the bytes that the event was read from, so an event holds no
/// reference and costs no allocation. Read texts through the bytes of the `EventBatch`.
///
/// It is laid out to be filled, copied and read often: one mask says which fields there are, and the texts are ranges
/// of 32 bits, so a text beyond the first 4 GiB is as good as none.
public struct Event: Sendable {
    /// A range of the bytes that hold the event's texts; empty where the event has none.
    public typealias Text = Range<Int>

    /// What happened.
    public var kind: EventKind
    /// When it happened, by the device's clock.
    public var timestamp: Timestamp

    @usableFromInline var presence = EventPresence()
    @usableFromInline var values = EventValues()
    @usableFromInline var texts = EventTextRanges()

    /// Makes an event with the two things that every event has.
    @inlinable
    public init(kind: EventKind, timestamp: Timestamp) {
        self.kind = kind
        self.timestamp = timestamp
    }
}
