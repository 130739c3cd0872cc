// SPDX-License-Identifier: Apache-2.0

/// The result of decoding an input: `received = events.count + rejected`.
public struct DecodedEvents: Sendable {
    /// The accepted events, in input order.
    public internal(set) var events = EventBatch()
    /// The hashes of all accepted events, or of none where they were not made for some.
    public internal(set) var hashes = EventHashes()
    /// The rejected events, limited to the first `JSONLimits.namedRejections`.
    public internal(set) var rejections: [Rejection] = []
    /// Whether the input contained no value.
    public internal(set) var isBlank = true
    /// How many events were rejected, indexed by the raw value of `RejectionReason`.
    public internal(set) var rejectedByReason = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    /// How many fields outside the vocabulary were dropped.
    public internal(set) var unknownFields = 0
    /// How many of the unknown fields resemble a known one, by its name; never the names themselves.
    public internal(set) var resembledFields: [String: Int] = [:]
    /// How many texts were altered because they lack the shape of their field.
    public internal(set) var altered = AlteredTexts()
    /// The line indices, from 0, of the events whose time is assumed, in event order; empty unless the options request
    /// them.
    public internal(set) var untimedLines: [Int] = []
    /// Where each event stands in its input; empty unless it is requested.
    public internal(set) var places: [EventPlace] = []
    /// What speaks against the lines of a log being those of one device; empty where an installation was given.
    public internal(set) var doubts: DeviceDoubts = []
    /// The line counts of a log; all zero for JSON.
    public internal(set) var lines = LogLineCounts()

    /// How many events were rejected.
    public private(set) var rejected = 0
    /// How many NDJSON lines contained a rejected event.
    var refusedLines = 0
    /// How many events the input contained.
    public var received: Int { events.count + rejected }
    /// The identity of each accepted event, for deduplication.
    public var identities: [UInt64] { hashes.identities }

    init() {}

    /// Adds what the lines before these say against one device.
    package mutating func add(_ doubts: DeviceDoubts) { self.doubts.formUnion(doubts) }

    package mutating func reject(_ rejection: Rejection) {
        rejected += 1
        rejectedByReason[Int(rejection.reason.rawValue)] += 1
        if rejections.count < JSONLimits.namedRejections { rejections.append(rejection) }
    }

    /// Appends events found among the lines of a log; their rejections are indexed by line from `firstLine`.
    mutating func append(_ other: DecodedEvents, firstLine: Int) {
        let areWhole = hashes.count == events.count && other.hashes.count == other.events.count
        events.append(other.events)
        places += other.places.map { EventPlace(line: $0.line + firstLine, isLogLine: $0.isLogLine) }
        if areWhole { hashes.append(contentsOf: other.hashes) } else { hashes = EventHashes() }
        rejected += other.rejected
        for reason in rejectedByReason.indices { rejectedByReason[reason] += other.rejectedByReason[reason] }
        for var rejection in other.rejections where rejections.count < JSONLimits.namedRejections {
            rejection.index += firstLine
            rejections.append(rejection)
        }
        unknownFields += other.unknownFields
        resembledFields.merge(other.resembledFields, uniquingKeysWith: +)
        altered += other.altered
    }

    /// Appends the result of a later call on the same log.
    public mutating func append(_ later: DecodedEvents) {
        append(later, firstLine: 0)
        lines += later.lines
        untimedLines += later.untimedLines
        doubts.formUnion(later.doubts)
        isBlank = isBlank && later.isBlank
    }

    /// Makes the places those of a log that was read from its last line on: negative, so that they sort in that order.
    package mutating func turnPlaces() {
        for index in places.indices { places[index].line = -2 - places[index].line }
    }
}

/// Where an event stands in its input.
public struct EventPlace: Hashable, Sendable {
    /// The index of the line, from 0; in a JSON document that of the event. Below -1 in a log that was turned around, whose
    /// first line has -2.
    public var line: Int
    /// Whether it is a line of the plugin's log, and not an event as JSON.
    public var isLogLine: Bool

    package init(line: Int, isLogLine: Bool) {
        self.line = line
        self.isLogLine = isLogLine
    }
}
