// SPDX-License-Identifier: Apache-2.0

/// The parsed lines of a chunk, not yet bound to streams, times and cycles.
public struct ParsedLog: Sendable {
    /// The plugin's messages, in order.
    var messages: [ParsedMessage] = []
    /// The bytes of the messages' texts; in their shapes except for schedule ids and device names, which only the binder
    /// reads.
    var texts = EventTexts()
    /// JSON events among the lines, each with the number of messages before them; their rejections count lines.
    var events: [(messages: Int, decoded: DecodedEvents, firstLine: Int)] = []
    /// Whether the heading of an event names a host that is not the log's own.
    var eventsNameHosts = false
    /// The line counts of the chunk.
    public internal(set) var lines = LogLineCounts()
    /// How many texts of messages were altered.
    var altered = AlteredTexts()

    init() {}

    /// Whether the plugin's messages are among the lines.
    public var hasMessages: Bool { !messages.isEmpty }

    /// The installation of the events among the lines, where they all have one: that which they name, or that of the file;
    /// nil where there are no events, or of several installations, or of other hosts. O(events).
    ///
    /// - Parameter source: the installation of events that name none.
    public func installationOfEvents(orNone source: Pseudonym?) -> Pseudonym?? {
        guard !eventsNameHosts else { return nil }
        var found: Pseudonym??
        for (_, decoded, _) in events {
            var cursor = EventCursor()
            while let event = try? cursor.next(in: decoded.events.bytes.span) {
                let installation = event.installation ?? source
                if let found, found != installation { return nil }
                found = .some(installation)
            }
        }
        return found
    }
}

/// Whether the lines of a log come oldest first or newest first, as `journalctl -r` and the exports of log viewers have
/// them: then hardly any stamp is later than the one before it.
package struct LineOrder: Sendable {
    /// As many changes of the stamp tell which it is.
    private static let enough = 16

    private var rises = 0
    private var falls = 0
    private var last: Int64?

    /// The order of no lines.
    package init() {}

    /// Takes the next lines.
    package mutating func add(_ parsed: ParsedLog) {
        for index in parsed.messages.indices {
            guard let stamp = parsed.messages[index].stamp?.wallMicroseconds else { continue }
            if let last, stamp != last { if stamp > last { rises += 1 } else { falls += 1 } }
            last = stamp
        }
    }

    /// Whether it is known without more lines.
    package var isKnown: Bool { rises + falls >= Self.enough }
    /// Whether the lines so far come newest first.
    package var isNewestFirst: Bool { falls > 1 && falls > 4 * rises }
}

extension ParsedLog {
    /// The lines in the other order.
    package func turnedAround() -> ParsedLog {
        var turned = self
        turned.messages.reverse()
        turned.events = events.reversed().map { (messages.count - $0.messages, $0.decoded, $0.firstLine) }
        return turned
    }

    /// About the memory that it takes, in bytes.
    package var byteCount: Int {
        events.reduce(messages.count * MemoryLayout<ParsedMessage>.stride + texts.bytes.count) { sum, event in
            sum + event.decoded.events.bytes.count
        }
    }
}

/// A message with the metadata of its wrapper.
struct ParsedMessage: Sendable {
    var message = LogMessage(LogRule.Form(meaning: .nothing, phase: .plugin, remainder: .nothing, idNamesTask: false))
    var stamp: LogStamp?
    var process: UInt64 = 0
    /// The keyed hash of the device's name; 0 for none.
    var device: UInt64 = 0
    var deviceName: Event.Text = 0..<0
    /// Whether the device is that of its stream, which has no other.
    var isDeviceOfStream = false
    /// The keyed hash of the schedule id; 0 for none.
    var schedule: UInt64 = 0
    /// The fingerprint for detecting repeated lines; 0 without a stamp.
    var fingerprint: UInt64 = 0
    /// The index of the line in the log, from 0.
    var line = 0
}
