// SPDX-License-Identifier: Apache-2.0

/// The records of a log in JSON that holds several of them: an array, or an object with an array, as log services, Android
/// Studio and `jq -s` write it, on one line or pretty-printed over many.
package struct LogRecords {
    /// How many objects deep a record is looked for, each of which is read once more.
    private static let mostDepth = 8

    private var cursor: LineCursor
    private var depth = 0

    init(_ json: Range<Int>) {
        cursor = LineCursor(json)
    }

    /// The next object that holds a line of a program; nil behind the last one.
    mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
        while !cursor.isAtEnd {
            let start = cursor.position
            switch bytes[start] {
            case UInt8(ascii: "\""):
                guard let end = JSONMembers.endOfString(bytes, cursor.rest) else { return nil }
                cursor.position = end
            case UInt8(ascii: "{"):
                guard let end = JSONMembers.endOfBrackets(bytes, cursor.rest) else { return nil }
                let isRecord = Self.isRecord(bytes, start..<end, depth: depth)
                if isRecord || depth >= Self.mostDepth {
                    cursor.position = end
                    if isRecord { return start..<end }
                } else {
                    cursor.position += 1
                    depth += 1
                }
            case UInt8(ascii: "}"):
                depth -= 1
                cursor.position += 1
            default: cursor.position += 1
            }
        }
        return nil
    }

    private static func isRecord(_ bytes: Span<UInt8>, _ range: Range<Int>, depth: Int) -> Bool {
        var object = LogObject()
        return object.read(bytes, range, depth: depth) && !object.isEvent
            && (object.carriedLine != nil || object.isRecord)
    }

    /// Whether the first object of an array holds a line of a program, so that the others are no events either.
    ///
    /// - Parameter depth: how many objects it is within.
    static func areThere(in bytes: Span<UInt8>, _ array: Range<Int>, depth: Int) -> Bool {
        guard depth < mostDepth, let brace = bytes.firstIndex(of: UInt8(ascii: "{"), in: array),
            let end = JSONMembers.endOfBrackets(bytes, brace..<array.upperBound)
        else { return false }
        return isRecord(bytes, brace..<end, depth: depth + 1)
    }
}

extension LogRecords {
    /// The same records, a line each in the place of the line that it begins in, if several do not share one; nil where there
    /// is none.
    ///
    /// - Parameter document: a whole JSON document.
    package static func lines(of document: Span<UInt8>) -> [UInt8]? {
        var flat: [UInt8] = []
        flat.append(document, 0..<document.count)
        // No string of JSON holds a control character.
        for index in flat.indices where flat[index] < 0x20 { flat[index] = UInt8(ascii: " ") }
        var records = LogRecords(0..<flat.count)
        var lines: [UInt8] = []
        var before: Int?
        while let record = records.next(flat.span) {
            let lineFeeds = ((before ?? 0)..<record.lowerBound).count { document[$0] == UInt8(ascii: "\n") }
            lines.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: max(before == nil ? 0 : 1, lineFeeds)))
            lines.append(flat.span, record)
            before = record.lowerBound
        }
        return before == nil ? nil : lines
    }
}
