// SPDX-License-Identifier: Apache-2.0

/// Decodes the plugin's log lines, in any supported wrapper, into the events that clients send as JSON
/// (docs/log-validation.md).
///
/// Total: every line is recognised, foreign or unrecognised, and no line affects the parsing of the next. Lines that
/// are JSON events are decoded as such. Texts leave it in their shapes. Memory is bounded: when too many events wait for a schedule
/// id, the oldest are emitted without. O(input), without allocation for most lines.
///
/// Combines a parser and a binder; use those directly to run them on two threads.
public struct LogDecoder: Sendable {
    var parser: LogParser
    var binder: LogBinder

    /// The lines decoded so far.
    public var counts: LogLineCounts { parser.counts }
    /// The first unrecognised lines, up to the options' limit.
    public var unrecognised: [UnrecognisedLine] { parser.unrecognised }

    /// Creates a decoder for the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: how the log is read.
    ///   - pseudonyms: replaces the names of devices.
    ///   - identityKey: the key of the events' identities.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        parser = LogParser(options, pseudonyms: pseudonyms, identityKey: identityKey)
        binder = LogBinder(options, pseudonyms: pseudonyms, identityKey: identityKey)
    }

    /// Decodes whole lines; each ends with a line feed, except the log's last.
    ///
    /// Events whose cycle is not yet known are returned by a later call.
    ///
    /// - Parameter carriers: the records that carried the lines, in order; empty for plain lines.
    public mutating func decode(
        _ bytes: Span<UInt8>,
        readAt: Timestamp,
        carriers: [LineCarrier] = []
    ) -> DecodedEvents {
        binder.bind(parser.parse(bytes, readAt: readAt, carriers: carriers), readAt: readAt)
    }

    /// The installation of the lines and events from here on that name none.
    public mutating func assign(_ installation: Pseudonym) {
        parser.assign(installation)
        binder.assign(installation)
    }

    /// The index in the log, from 0, of the first line whose event is still held; nil if none is.
    public var firstPendingLine: Int? {
        binder.binding.devices.lazy.flatMap(\.held).map(\.line).min()
    }

    /// Whether nothing but the lines themselves says whose they are.
    public var isAnonymous: Bool { binder.options.installation == nil && binder.options.source == nil }

    /// Whether it was restored from the state of a version whose sources were not devices of their own; the open cycles of
    /// that version are to be carried over.
    public internal(set) var isOfAnonymousSource = false

    /// Leaves the events of these cycles without an installation, as those before them.
    public mutating func carry(_ cycles: CarriedCycles) {
        isOfAnonymousSource = false
        parser.carried = cycles.isEmpty ? nil : cycles
    }

    /// Emits all waiting events.
    ///
    /// Call it at the end of a log, and when a live log has been idle for a while.
    public mutating func flush(readAt: Timestamp) -> DecodedEvents {
        binder.flush(readAt: readAt)
    }
}

/// Options for reading a log.
public struct LogDecoderOptions: Sendable {
    /// The wrapper of all lines; nil to detect it per line.
    public var wrapper: LogWrapper?
    /// The time zone of stamps without one.
    public var zone: ZoneOffsets
    /// Whether each line of JSON is meant as events, unless it is a record of a log; otherwise the JSON of other programs
    /// is foreign. An array over several lines is then none, so that what was read is counted in lines as they were sent.
    public var takesAllJSON = false
    /// Whether lines are read while they are written, so that a line without a stamp gets the reading time.
    public var isLive: Bool
    /// The installation of lines and events without one, if all come from one device; nil to derive it from the device
    /// names in the lines.
    public var installation: Pseudonym?
    /// The device of lines and events that name none, and what devices of the same name in other sources are told apart
    /// by (`Pseudonym.init(deviceOf:)`); nil where the source is not a device of its own.
    public var source: Pseudonym?
    /// Whether the log is of one device, as a file that is judged: the first host that lines or events name is then that
    /// device, like those that name none, and other hosts are devices beside it.
    public var isOneDevice = false
    /// The apps whose lines and events are taken; lines of others are foreign, events of others of an unknown kind.
    public var apps: Set<App> = Set(App.allCases)
    /// Whether to compute event identities; decoding is faster without.
    public var identifies = true
    /// Whether to report the lines of events without a time.
    public var reportsUntimedLines = false
    /// By how much a line without a stamp is later than the one before it, in microseconds, in a log without any.
    public var untimedStep: Int64 = 1
    /// Whether the lines are of a simulator, where that is known; false: of a device.
    public var isSimulator: Bool?
    /// Whether to report where each event stands.
    public var reportsPlaces = false
    /// How many unrecognised lines to keep for display.
    public var unrecognisedLimit = 0

    /// Creates options; by default the wrapper is detected per line.
    public init(wrapper: LogWrapper? = nil, zone: ZoneOffsets = .utc, isLive: Bool = false) {
        self.wrapper = wrapper
        self.zone = zone
        self.isLive = isLive
    }
}

/// Line counts: `read = recognised + foreign + unrecognised`.
public struct LogLineCounts: Hashable, Sendable {
    /// All lines.
    public var read: UInt64 = 0
    /// Lines of a known form, and valid events.
    public var recognised: UInt64 = 0
    /// Lines that the plugin did not write.
    public var foreign: UInt64 = 0
    /// The plugin's lines that match no rule, and invalid events.
    public var unrecognised: UInt64 = 0

    /// Creates counts of zero.
    public init() {}

    /// Adds counts.
    public static func += (left: inout LogLineCounts, right: LogLineCounts) {
        left.read += right.read
        left.recognised += right.recognised
        left.foreign += right.foreign
        left.unrecognised += right.unrecognised
    }
}

/// A line of the plugin that matches no rule.
public struct UnrecognisedLine: Hashable, Sendable {
    /// The maximum length of the kept text, in bytes.
    public static let maximumText = 200

    /// The line number, from 1.
    public var number: UInt64
    /// The leading words, without what may be a user's.
    public var text: String
    /// Why it was not recognised.
    public var problem: String
}
