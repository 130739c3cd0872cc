// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents
internal import TextOutput

/// Cuts the bytes of one connection into lines, decodes them, and counts the lines that can be acknowledged.
struct LineStream: Sendable {
    /// Decoded lines.
    struct Piece: Sendable {
        var decoded: DecodedEvents
        /// The lines of the connection that are durable once this is stored: all before the first that waits for the
        /// line that names its cycle.
        var settled: UInt64
        /// Whether nothing but the lines themselves says whose they are.
        var isAnonymous: Bool
    }

    /// What a first line begins with that names the installation of all others.
    private static let installation = Array("installation ".utf8)
    /// The longest id, as of `installationId` in an event, in bytes.
    private static let longestId = 256

    private var decoder: LogDecoder
    private let pseudonyms: any Pseudonymising
    private var cutter = LineCutter(dividesAtGaps: false)

    init(_ decoder: LogDecoder, pseudonyms: any Pseudonymising) {
        self.decoder = decoder
        self.pseudonyms = pseudonyms
    }

    /// Whether a line is incomplete.
    var isInsideLine: Bool { !cutter.held.isEmpty || cutter.isSkipping }

    /// Decodes the lines that end in the bytes; nil if none does.
    mutating func take(_ bytes: [UInt8], readAt: Timestamp) -> Piece? {
        var lines: [UInt8] = []
        cutter.cut(bytes, into: &lines)
        return lines.isEmpty ? nil : decode(lines, readAt)
    }

    /// Decodes the lines that wait for one that names their cycle; nil if none waits.
    mutating func flush(readAt: Timestamp) -> Piece? {
        guard decoder.firstPendingLine != nil else { return nil }
        let decoded = decoder.flush(readAt: readAt)
        return Piece(decoded: decoded, settled: settled, isAnonymous: decoder.isAnonymous)
    }

    /// Decodes the last line, without a line feed; nil if there is none.
    mutating func finishLine(readAt: Timestamp) -> Piece? {
        var line: [UInt8] = []
        cutter.finish(into: &line)
        return line.isEmpty ? nil : decode(line, readAt)
    }

    private mutating func decode(_ lines: [UInt8], _ readAt: Timestamp) -> Piece {
        let problem = decoder.counts.read == 0 ? takeInstallation(of: lines) : nil
        var decoded = decoder.decode(lines.span, readAt: readAt)
        if let problem { decoded.reject(problem) }
        return Piece(decoded: decoded, settled: settled, isAnonymous: decoder.isAnonymous)
    }

    /// Takes the installation that the first line names.
    ///
    /// - Returns: why it cannot be taken.
    private mutating func takeInstallation(of lines: [UInt8]) -> Rejection? {
        let end = lines.firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
        // As in any other line, white space, a carriage return and a byte order mark around it are no part of it.
        let line = lines[lines.span.trimmedLine(0..<end)]
        // Without an id, the space behind the word is trimmed too.
        guard line.starts(with: Self.installation) || line.elementsEqual(Self.installation.dropLast()) else {
            return nil
        }
        let id = Array(String(decoding: line.dropFirst(Self.installation.count), as: UTF8.self).trimmed.utf8)
        guard !id.isEmpty else { return Rejection(index: 0, reason: .missingField, field: .installationId) }
        guard id.count <= Self.longestId else {
            return Rejection(index: 0, reason: .tooLong, field: .installationId)
        }
        decoder.assign(pseudonyms.pseudonym(of: id.span))
        return nil
    }

    private var settled: UInt64 { decoder.firstPendingLine.map { UInt64($0) } ?? decoder.counts.read }
}
