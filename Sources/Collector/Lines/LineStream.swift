// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// Cuts the bytes of one connection into lines, decodes them, and counts the lines that can be acknowledged.
struct LineStream: Sendable {
    /// Decoded lines.
    struct Piece: Sendable {
        var decoded: DecodedEvents
        /// The lines of the connection that are durable once this is stored: all before the first that waits for the
        /// line that names its cycle.
        var settled: UInt64
    }

    private var decoder: LogDecoder
    private var cutter = LineCutter(dividesAtGaps: false)

    init(_ decoder: LogDecoder) {
        self.decoder = decoder
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
        return Piece(decoded: decoded, settled: settled)
    }

    /// Decodes the last line, without a line feed; nil if there is none.
    mutating func finishLine(readAt: Timestamp) -> Piece? {
        var line: [UInt8] = []
        cutter.finish(into: &line)
        return line.isEmpty ? nil : decode(line, readAt)
    }

    private mutating func decode(_ lines: [UInt8], _ readAt: Timestamp) -> Piece {
        let decoded = decoder.decode(lines.span, readAt: readAt)
        return Piece(decoded: decoded, settled: settled)
    }

    private var settled: UInt64 { decoder.firstPendingLine.map { UInt64($0) } ?? decoder.counts.read }
}
