// SPDX-License-Identifier: Apache-2.0

// Lines in quotes: a field of CSV as log services export it (RFC 4180), a value of logfmt, a text of a JSON document that
// stands on a line of its own.
extension LineUnwrapper {
    /// Reads a line in quotes as if it stood alone; without a time it takes the one before it.
    ///
    /// - Returns: whether it is an app's.
    @inline(never)
    mutating func readQuoted(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) -> Bool {
        // A line in quotes holds no other.
        guard prefixes == 0, bytes.namesApp(in: range) else { return false }
        var time = bareTime(bytes, range)
        var texts = QuotedTexts(range)
        while let text = texts.next(bytes) {
            guard bytes.namesApp(in: text.range) else {
                time = time ?? stamps.time(bytes, of: text.range)
                continue
            }
            // Behind a line it is a value of that one.
            guard !bytes.namesApp(in: range.lowerBound..<text.range.lowerBound) else { return false }
            var plain: [UInt8] = []
            text.appendPlain(bytes, to: &plain)
            let header = header
            prefixes = 2
            var inner = unwrapPlain(plain.span, plain.span.trimmedLine(0..<plain.count), scratch: &scratch)
            prefixes = 0
            self.header = header
            guard !inner.isForeign, !inner.isEvent else { return false }
            if !inner.isInScratch { swap(&plain, &scratch) }
            inner.isInScratch = true
            inner.stamp = inner.stamp ?? time ?? line.stamp
            if inner.process == 0 { inner.process = line.process }
            if inner.platform == .unknown { inner.platform = line.platform }
            line = inner
            return true
        }
        return false
    }

    /// The time without quotes that begins the line, or its first value; not one in a text in quotes.
    private mutating func bareTime(_ bytes: Span<UInt8>, _ range: Range<Int>) -> LogStamp? {
        if let time = stamps.time(bytes, of: range) { return time }
        let quote = bytes.firstIndex(of: UInt8(ascii: "\""), in: range) ?? range.upperBound
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "="), in: range.lowerBound..<quote) else { return nil }
        return stamps.time(bytes, of: sign + 1..<range.upperBound)
    }
}

/// A text in quotes, as it stands there.
private struct QuotedText {
    var range: Range<Int>
    /// Whether its quotes are doubled.
    var isDoubled = false

    func appendPlain(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        guard isDoubled else { return JSONMembers.appendText(bytes, range, to: &output) }
        var index = range.lowerBound
        while index < range.upperBound {
            output.append(bytes[index])
            index += bytes[index] == UInt8(ascii: "\"") ? 2 : 1
        }
    }
}

/// The texts in quotes of a line that are a field or a value: not those in code, such as an argument.
private struct QuotedTexts {
    private let start: Int
    private var cursor: LineCursor

    init(_ line: Range<Int>) {
        start = line.lowerBound
        cursor = LineCursor(line)
    }

    mutating func next(_ bytes: Span<UInt8>) -> QuotedText? {
        while let quote = bytes.firstIndex(of: UInt8(ascii: "\""), in: cursor.rest) {
            let isValue = beginsValue(bytes, at: quote)
            cursor.position = quote + 1
            guard let text = rest(bytes) else { return nil }
            if isValue, endsValue(bytes) { return text }
        }
        return nil
    }

    /// Reads a text up to the quote that ends it, and that quote.
    private mutating func rest(_ bytes: Span<UInt8>) -> QuotedText? {
        let first = cursor.position
        var text = QuotedText(range: first..<first)
        while !cursor.isAtEnd {
            if bytes[cursor.position] == UInt8(ascii: "\\") {
                cursor.position += 2
            } else if bytes[cursor.position] != UInt8(ascii: "\"") {
                cursor.position += 1
            } else if cursor.peek(bytes, 1) == UInt8(ascii: "\"") {
                text.isDoubled = true
                cursor.position += 2
            } else {
                text.range = first..<cursor.position
                cursor.position += 1
                return text
            }
        }
        return nil
    }

    /// The keys of a line and of its time; under others a line is mentioned, as in `filter="[DNP-FETCH]"`.
    private static let keys: [StaticString] = [
        "msg", "message", "event", "log", "line", "text", "time", "ts", "timestamp", "date",
    ]

    /// Whether a quote begins the line, a field of CSV, or the text of such a key.
    private func beginsValue(_ bytes: Span<UInt8>, at quote: Int) -> Bool {
        var index = quote - 1
        while index >= start, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "\t") { index -= 1 }
        guard index >= start else { return true }
        switch bytes[index] {
        case UInt8(ascii: ","): return true
        // The console of a web view: `[INFO:CONSOLE(12)] "text", source: https://...`.
        case UInt8(ascii: "]"): return index > start && bytes[index - 1] == UInt8(ascii: ")")
        case UInt8(ascii: "="): return index == quote - 1 && isKey(bytes, before: index)
        case UInt8(ascii: ":"):
            let isQuoted = index > start && bytes[index - 1] == UInt8(ascii: "\"")
            return isQuoted && isKey(bytes, before: index - 1)
        default: return bytes[quote - 1] == UInt8(ascii: "\t")
        }
    }

    private func isKey(_ bytes: Span<UInt8>, before end: Int) -> Bool {
        Self.keys.contains { key in
            let first = end - key.utf8CodeUnitCount
            guard first >= start, bytes.equals(key, in: first..<end) else { return false }
            return first == start || !bytes[first - 1].isLetterOrDigit && bytes[first - 1] != UInt8(ascii: "_")
        }
    }

    /// Whether nothing of its own follows the quote.
    private func endsValue(_ bytes: Span<UInt8>) -> Bool {
        switch cursor.peek(bytes) {
        case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "}"), UInt8(ascii: "]"): true
        default: cursor.isAtEnd
        }
    }
}
