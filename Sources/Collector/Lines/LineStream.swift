// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// The lines of one connection: which are whole, what events they tell, and up to which one nothing waits any longer.
struct LineStream: Sendable {
    /// Some lines, decoded.
    struct Piece: Sendable {
        var decoded: DecodedEvents
        /// How many lines of the connection are settled once this is stored: all before the first that still waits for
        /// the line which names its cycle.
        var settled: UInt64
    }

    private var decoder: LogDecoder
    private var cutter = LineCutter(dividesAtGaps: false)

    init(_ decoder: LogDecoder) {
        self.decoder = decoder
    }

    /// Whether the beginning of a line has been read whose end has not.
    var isInsideLine: Bool { !cutter.held.isEmpty || cutter.isSkipping }

    /// Takes what was read; nil when no line ends in it.
    mutating func take(_ bytes: [UInt8], readAt: Timestamp) -> Piece? {
        var lines: [UInt8] = []
        cutter.cut(bytes, into: &lines)
        return lines.isEmpty ? nil : decode(lines, readAt)
    }

    /// Gives up waiting for lines that name cycles; nil when none is waited for.
    mutating func settle(readAt: Timestamp) -> Piece? {
        guard decoder.firstPendingLine != nil else { return nil }
        let decoded = decoder.flush(readAt: readAt)
        return Piece(decoded: decoded, settled: settled)
    }

    /// Takes the last line, which has no line feed; nil when there is none.
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
