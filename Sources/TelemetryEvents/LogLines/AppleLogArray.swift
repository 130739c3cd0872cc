// SPDX-License-Identifier: Apache-2.0

/// Takes the records out of `log show --style json`: one array of objects, on one line or pretty-printed over many.
///
/// Each record becomes a line, in the place of the line that it begins in; so lines keep their numbers unless several
/// records share one.
public struct AppleLogArray: Sendable {
    /// How far from the beginning a name must be that tells of such a log.
    private static let reach = 16 << 10
    /// The maximum size of a record in bytes; a larger one is dropped.
    private static let longestRecord = 1 << 20

    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The record whose end has not been read.
    private var record: [UInt8] = []
    /// The line feeds in it.
    private var linesOfRecord = 0
    /// Whether a line feed was written that the input did not have.
    private var isAhead = false
    /// Whether the end of the array has not been read.
    public private(set) var isOpen = true

    init() {}

    /// Whether an input is such a log by its first bytes: an array whose first object has names of Apple's log.
    public static func begins(_ bytes: Span<UInt8>) -> Bool {
        var cursor = LineCursor(bytes.trimmedLine(0..<min(bytes.count, reach)))
        guard cursor.consume(UInt8(ascii: "["), bytes) else { return false }
        while cursor.peek(bytes) <= 0x20, !cursor.isAtEnd { cursor.position += 1 }
        guard cursor.peek(bytes) == UInt8(ascii: "{") else { return false }
        return bytes.containsIgnoringCase("\"eventMessage\"", in: cursor.rest)
            || bytes.containsIgnoringCase("\"traceID\"", in: cursor.rest)
    }

    /// Appends the records that end in `bytes`, a line each; what follows the array is appended as it is.
    mutating func append(_ bytes: Span<UInt8>, to lines: inout [UInt8]) {
        var index = 0
        while index < bytes.count, isOpen {
            let byte = bytes[index]
            index += 1
            if depth < 2 {
                readBetween(byte, &lines)
            } else {
                readInside(byte, &lines)
            }
        }
        if index < bytes.count { lines.append(bytes, index..<bytes.count) }
    }

    /// Reads a byte between records.
    private mutating func readBetween(_ byte: UInt8, _ lines: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "["): depth = 1
        case UInt8(ascii: "]"): isOpen = false
        case UInt8(ascii: "{"):
            depth = 2
            isAhead = false
            record.append(byte)
        case UInt8(ascii: "\n"):
            if !isAhead { lines.append(byte) }
            isAhead = false
        default: break
        }
    }

    private mutating func readInside(_ byte: UInt8, _ lines: inout [UInt8]) {
        if byte == UInt8(ascii: "\n") { linesOfRecord += 1 }
        if record.count < Self.longestRecord { record.append(byte < 0x20 ? UInt8(ascii: " ") : byte) }
        if isEscaped {
            isEscaped = false
        } else if isInString {
            if byte == UInt8(ascii: "\\") { isEscaped = true }
            if byte == UInt8(ascii: "\"") { isInString = false }
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 1 { endRecord(&lines) }
            default: break
            }
        }
    }

    private mutating func endRecord(_ lines: inout [UInt8]) {
        if record.count < Self.longestRecord { lines += record }
        isAhead = linesOfRecord == 0
        for _ in 0..<max(linesOfRecord, 1) { lines.append(UInt8(ascii: "\n")) }
        linesOfRecord = 0
        record.removeAll(keepingCapacity: true)
    }
}
