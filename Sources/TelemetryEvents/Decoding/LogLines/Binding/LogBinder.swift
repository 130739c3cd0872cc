// SPDX-License-Identifier: Apache-2.0

/// Gives parsed messages their time and their cycle, and makes events of them (SPEC 3.3).
///
/// Pieces come in the order in which they were parsed. Memory is bounded: what waits for its schedule id gives way when there
/// is too much of it.
public struct LogBinder: Sendable {
    let options: LogDecoderOptions
    let pseudonyms: any Pseudonymising
    let identityKey: IdentityKey

    var binding = LogBinding()
    var recent = RecentLines()
    /// By the wall clock.
    var lastStamp = Int64.min
    var devices = PseudonymCache()
    /// The texts of the event that is made.
    var texts = EventTexts()
    var decoded = DecodedEvents()
    /// The time that the next line without a stamp is given, so that such lines keep their order.
    var assumedTime = Timestamp(microseconds: 0)
    var readAt = Timestamp(microseconds: 0)

    /// Starts at the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: those that the parser has.
    ///   - pseudonyms: what replaces the names of devices.
    ///   - identityKey: the key that the parser has.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
    }

    /// Binds the messages of a piece. Events whose cycle is not known yet come with a later call.
    public mutating func bind(_ parsed: ParsedLog, readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        decoded.lines = parsed.lines
        decoded.events.reserve(bytes: parsed.messages.count * 96, events: parsed.messages.count)
        if options.isLive { releaseOld() }
        binding.lifetimes.add(parsed.messages)
        let bytes = parsed.texts.bytes.span
        var next = 0
        for index in parsed.messages.indices {
            while next < parsed.events.count, parsed.events[next].messages <= index { append(parsed, next: &next) }
            let novelty = novelty(of: parsed.messages[index])
            take(parsed.messages[index], bytes, novelty)
        }
        while next < parsed.events.count { append(parsed, next: &next) }
        return end()
    }

    /// Gives up waiting: every event that was held back comes out.
    ///
    /// For the end of a log, and for a live one that has been idle for a while.
    public mutating func flush(readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        for device in binding.devices.indices { releaseAll(device) }
        return end()
    }

    /// A line that was there before, behind another one, and is older than the last one is a repetition too.
    private mutating func novelty(of parsed: ParsedMessage) -> RecentLines.Novelty {
        guard parsed.fingerprint != 0, let stamp = parsed.stamp else { return .new }
        let isOlder = stamp.wallMicroseconds < lastStamp
        lastStamp = stamp.wallMicroseconds
        let namesItsCycle = parsed.schedule != 0 || parsed.message.due != nil
        let novelty = recent.note(parsed.fingerprint ^ parsed.device | 1, namesItsCycle: namesItsCycle)
        return novelty == .similar && isOlder ? .repeated : novelty
    }

    private mutating func append(_ parsed: ParsedLog, next: inout Int) {
        decoded.append(parsed.events[next].decoded, firstLine: parsed.events[next].firstLine)
        next += 1
    }

    private mutating func begin(_ readAt: Timestamp) {
        self.readAt = readAt
        assumedTime = max(assumedTime, readAt)
        decoded = DecodedEvents()
    }

    private mutating func end() -> DecodedEvents {
        decoded.isBlank = decoded.lines.read == 0 && decoded.events.count == 0
        decoded.events.finish()
        defer { decoded = DecodedEvents() }
        return decoded
    }
}
