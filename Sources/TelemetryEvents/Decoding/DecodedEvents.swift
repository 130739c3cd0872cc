// SPDX-License-Identifier: Apache-2.0

/// What the decoder found in an input: `received = events.count + rejected`.
public struct DecodedEvents: Sendable {
    /// The readable events, in order.
    public internal(set) var events = EventBatch()
    /// The identity of each of them, by which a duplicate is known.
    public internal(set) var identities: [UInt64] = []
    /// The refused ones, the first `JSONLimits.namedRejections` of them.
    public internal(set) var rejections: [Rejection] = []
    /// Whether the input held no value at all.
    public internal(set) var isBlank = true
    /// How many were refused, by the raw value of `RejectionReason`.
    public internal(set) var rejectedByReason = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    /// How many fields that the vocabulary does not know were dropped.
    public internal(set) var unknownFields = 0

    /// How many events were refused.
    public var rejected: Int { rejectedByReason.reduce(0) { $0 + Int($1) } }
    /// How many events the input held.
    public var received: Int { events.count + rejected }

    init() {}
}
