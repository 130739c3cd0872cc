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
    /// Where in the log, from 0, the lines stand of the events that only assume a time, in their order; empty unless asked for.
    public internal(set) var untimedLines: [Int] = []
    /// The lines of a log; all zero for JSON.
    public internal(set) var lines = LogLineCounts()

    /// How many events were refused.
    public private(set) var rejected = 0
    /// How many lines of JSON held an event that was refused.
    var refusedLines = 0
    /// How many events the input held.
    public var received: Int { events.count + rejected }

    init() {}

    mutating func reject(_ rejection: Rejection) {
        rejected += 1
        rejectedByReason[Int(rejection.reason.rawValue)] += 1
        if rejections.count < JSONLimits.namedRejections { rejections.append(rejection) }
    }

    /// Appends events that stood among the lines of a log; their rejections are named by the line.
    mutating func append(_ other: DecodedEvents, firstLine: Int) {
        events.append(other.events)
        identities.append(contentsOf: other.identities)
        rejected += other.rejected
        for reason in rejectedByReason.indices { rejectedByReason[reason] += other.rejectedByReason[reason] }
        for var rejection in other.rejections where rejections.count < JSONLimits.namedRejections {
            rejection.index += firstLine
            rejections.append(rejection)
        }
        unknownFields += other.unknownFields
    }
}

extension DecodedEvents {
    /// Appends what a later call found in the same log.
    public mutating func append(_ later: DecodedEvents) {
        append(later, firstLine: 0)
        lines += later.lines
        untimedLines += later.untimedLines
        isBlank = isBlank && later.isBlank
    }
}
