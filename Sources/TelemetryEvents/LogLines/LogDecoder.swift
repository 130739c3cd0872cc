// SPDX-License-Identifier: Apache-2.0

/// Decodes the plugin's log lines, in whatever they are wrapped, into the same events that clients send as JSON (SPEC 3.3).
///
/// Total: every line is recognised, foreign or unrecognised, and nothing in a line stops the next. Lines that are JSON
/// events are decoded as such. Texts are redacted before an event leaves (SPEC 4.7). Memory is bounded: what waits for its
/// schedule id gives way when there is too much of it. O(input), with no allocation for most lines.
///
/// A parser and a binder, one after the other; use these themselves to have them on two threads.
public struct LogDecoder: Sendable {
    var parser: LogParser
    var binder: LogBinder

    /// The lines so far.
    public var counts: LogLineCounts { parser.counts }
    /// The first unrecognised lines, as many as the options ask for.
    public var unrecognised: [UnrecognisedLine] { parser.unrecognised }

    /// Starts at the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: how the log is read.
    ///   - pseudonyms: what replaces the names of devices.
    ///   - identityKey: the key of the events' identities.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        parser = LogParser(options, pseudonyms: pseudonyms, identityKey: identityKey)
        binder = LogBinder(options, pseudonyms: pseudonyms, identityKey: identityKey)
    }

    /// Decodes whole lines; each ends with a line feed, but for the last one of the log.
    ///
    /// Events whose cycle is not known yet come with a later call.
    ///
    /// - Parameter carriers: what carried the lines, in their order; none for lines that stand for themselves.
    public mutating func decode(
        _ bytes: Span<UInt8>,
        readAt: Timestamp,
        carriers: [LineCarrier] = []
    ) -> DecodedEvents {
        binder.bind(parser.parse(bytes, readAt: readAt, carriers: carriers), readAt: readAt)
    }

    /// The place in the log, from 0, of the first line whose event has not come out yet; nil when none waits.
    public var firstWaitingLine: Int? {
        binder.binding.devices.lazy.flatMap(\.held).map(\.line).min()
    }

    /// Gives up waiting: every event that was held back comes out.
    ///
    /// For the end of a log, and for a live one that has been idle for a while.
    public mutating func flush(readAt: Timestamp) -> DecodedEvents {
        binder.flush(readAt: readAt)
    }
}

/// How a log is read.
public struct LogDecoderOptions: Sendable {
    /// The form in which the lines are wrapped; nil: told apart line by line.
    public var wrapper: LogWrapper?
    /// The zone of stamps that name none.
    public var zone: ZoneOffsets
    /// Whether lines are read as they are written, so that a line without a stamp happened when it was read.
    public var isLive: Bool
    /// What stands for the installation of lines and events that name none, where all come from one device; nil: what the
    /// lines tell of their devices.
    public var installation: Pseudonym?
    /// Whether the identities of events are told; without them a log is read faster.
    public var identifies = true
    /// Whether the lines of events without a time are told.
    public var tellsUntimedLines = false
    /// How many unrecognised lines are kept, for people to look at.
    public var unrecognisedLimit = 0

    /// Makes options for a log that is told apart by itself.
    public init(wrapper: LogWrapper? = nil, zone: ZoneOffsets = .utc, isLive: Bool = false) {
        self.wrapper = wrapper
        self.zone = zone
        self.isLive = isLive
    }
}

/// How many lines there were: `read = recognised + foreign + unrecognised`.
public struct LogLineCounts: Hashable, Sendable {
    /// All lines.
    public var read: UInt64 = 0
    /// Lines of a known form, and readable events.
    public var recognised: UInt64 = 0
    /// Lines that are not the plugin's.
    public var foreign: UInt64 = 0
    /// Lines of the plugin that no rule matches, and events that cannot be read.
    public var unrecognised: UInt64 = 0

    /// Counts at zero.
    public init() {}

    /// Adds counts.
    public static func += (left: inout LogLineCounts, right: LogLineCounts) {
        left.read += right.read
        left.recognised += right.recognised
        left.foreign += right.foreign
        left.unrecognised += right.unrecognised
    }
}

/// A line of the plugin that no rule matches.
public struct UnrecognisedLine: Hashable, Sendable {
    /// The longest text that is kept, in bytes.
    public static let maximumText = 200

    /// Its number, from 1.
    public var number: UInt64
    /// Its text, cut, and without anything personal (SPEC 4.7).
    public var text: String
    /// Why, in words.
    public var problem: String
}
