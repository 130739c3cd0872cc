// SPDX-License-Identifier: Apache-2.0

internal import Hashing
internal import LogInput
internal import Synchronization
internal import TelemetryEvents

/// Decodes a log on the client and turns its events into lines of JSON.
///
/// The lines of a log depend on lines before them, so a log that grows or is too large for one body can't be sent in
/// pieces.
struct DecodedLog: Sendable {
    /// The longest name of a device: with its file, it is an installation id, of at most 256 bytes.
    private static let longestName = 256 - 17
    /// Identities mean something within one run only, and the same log has to make the same lines each time.
    private static let key = IdentityKey(0x646e_702d_7365_6e64, 0x6c6f_6361_6c2d_6b65)

    private var decoder: LogDecoder
    private let names = RawNames()
    private let source: SendSource?
    private let isLive: Bool
    /// The line of the input before the first of the log.
    private let lineOffset: UInt64

    /// - Parameters:
    ///   - source: what the collector is told of the input; nil to name devices as the lines do.
    ///   - isLive: whether lines come as they are written.
    ///   - lineOffset: how many lines of the input come before it.
    init(_ options: LineFormat, source: SendSource? = nil, isLive: Bool, lineOffset: UInt64) {
        self.source = source
        self.isLive = isLive
        self.lineOffset = lineOffset
        var lines = options.decoderOptions
        lines.isLive = isLive
        lines.reportsUntimedLines = !isLive
        decoder = LogDecoder(lines, pseudonyms: names, identityKey: Self.key)
    }

    var counts: LogLineCounts { decoder.counts }

    /// Decodes whole lines.
    mutating func decode(_ lines: [UInt8], readAt: Timestamp) throws(InputError) -> DecodedLines {
        let decoded = decoder.decode(lines.span, readAt: readAt)
        return try encode(decoded)
    }

    /// Emits the events that waited for further lines.
    mutating func flush(readAt: Timestamp) throws(InputError) -> DecodedLines {
        let decoded = decoder.flush(readAt: readAt)
        return try encode(decoded)
    }

    private func encode(_ decoded: DecodedEvents) throws(InputError) -> DecodedLines {
        if let line = decoded.untimedLines.first {
            throw InputError(
                input: "line \(lineOffset + UInt64(line) + 1)",
                problem:
                    "it has no time, and a log of more than \(SendCutter.wholeLog >> 20) MiB is sent in pieces, to "
                    + "which a time would be given that nobody knows; cut the log into one file for each run"
            )
        }
        var lines = DecodedLines(last: lineOffset + decoder.counts.read)
        lines.rejected = decoded.rejections.map { ("line \(lineOffset + UInt64($0.index) + 1)", $0.description) }
        lines.rejectedTotal = UInt64(decoded.rejected)
        let bytes = decoded.events.bytes
        for index in 0..<decoded.events.count {
            let record = bytes.span.extracting(decoded.events.record(at: index))
            var cursor = EventCursor()
            guard let event = try? cursor.next(in: record) else { continue }
            lines.events.append(line(of: event, record))
        }
        return lines
    }

    private func line(of event: Event, _ record: Span<UInt8>) -> [UInt8] {
        var event = event
        let installation = event.installation
        event.installation = nil
        var line: [UInt8] = []
        CanonicalJSON.append(event, in: record, to: &line)
        guard let installation, let device = device(installation) else { return line }
        line.removeLast()
        var member = JSONWriter()
        member.name("installationId")
        member.value(device)
        line.append(UInt8(ascii: ","))
        line += member.bytes
        line.append(UInt8(ascii: "}"))
        return line
    }

    private func device(_ installation: Pseudonym) -> String? {
        let name = name(of: installation)
        return source.map { $0.device(named: name) } ?? name
    }

    /// The device's own name, or a generated one for a process without a device.
    private func name(of installation: Pseudonym) -> String {
        if let name = names.name(installation.high), name.count <= Self.longestName,
            let text = String(validating: name, as: UTF8.self)
        {
            return text
        }
        var digits: [UInt8] = []
        installation.appendHex(to: &digits)
        return "process-" + String(decoding: digits, as: UTF8.self)
    }
}

/// The events and rejections of some lines of a log.
struct DecodedLines: Sendable {
    /// Events as JSON, without line feeds.
    var events: [[UInt8]] = []
    /// The number of the last line read.
    var last: UInt64
    /// The first rejected events, with their lines.
    var rejected: [(place: String, reason: String)] = []
    var rejectedTotal: UInt64 = 0

    init(last: UInt64) { self.last = last }
}

/// Maps the pseudonyms of a log that is decoded on the client back to the names of devices, so that the collector gets
/// the names and assigns the same pseudonyms as for any other input. Ids and hashes of events stay as they are.
///
/// Memory is bounded: beyond `most` names the least recently used are evicted. The decoder itself remembers far fewer.
final class RawNames: Pseudonymising {
    static let most = 65_536

    private struct Known {
        var recent: [UInt64: [UInt8]] = [:]
        var older: [UInt64: [UInt8]] = [:]

        mutating func keep(_ name: [UInt8], _ hash: UInt64) {
            if recent.count >= RawNames.most / 2 {
                older = recent
                recent = [:]
            }
            recent[hash] = name
        }
    }

    private let known = Mutex(Known())

    var keepsIdentifiers: Bool { true }

    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        let name = (0..<bytes.count).map { bytes[$0] }
        let digest = SHA256Hash.digest(name)
        known.withLock { $0.keep(name, digest.first) }
        return Pseudonym(high: digest.first, low: digest.second)
    }

    /// The name whose pseudonym has these high bits.
    func name(_ high: UInt64) -> [UInt8]? {
        known.withLock { known in
            if let name = known.recent[high] { return name }
            guard let name = known.older[high] else { return nil }
            known.keep(name, high)
            return name
        }
    }
}
