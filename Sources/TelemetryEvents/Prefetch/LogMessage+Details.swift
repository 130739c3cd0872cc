// SPDX-License-Identifier: Apache-2.0

/// What messages say beside `key=value` pairs: calls, error codes and minutes.
extension LogMessageReader {
    /// Reads whether a call carried a token and an ETag, `(JWT present, ETag=...)`; never their values. A list that does
    /// not mention one says that it was not there, unless the line was cut within it.
    func readCall(_ bytes: Span<UInt8>, _ range: Range<Int>, _ message: inout LogMessage) {
        guard let open = bytes.firstIndex(of: UInt8(ascii: "("), in: range) else { return }
        let list = open + 1..<range.upperBound
        let isWhole = bytes.firstIndex(of: UInt8(ascii: ")"), in: list) != nil
        for (name, condition) in [("jwt", .authenticated), ("etag", .conditional)] as [(StaticString, EventCondition)] {
            let isTold = bytes.tells(of: name, in: list)
            if isTold || isWhole { message.conditions[condition] = isTold }
        }
    }

    /// Reads a message that begins with an error code outside the closed set; false for any other.
    mutating func readErrorCode(_ bytes: Span<UInt8>, _ text: Range<Int>, into message: inout LogMessage) -> Bool {
        var end = text.lowerBound
        while end < text.upperBound, bytes[end].isLetterOrDigit || bytes[end] == UInt8(ascii: "_") { end += 1 }
        let word = text.lowerBound..<end
        guard PluginErrorCode.isNamed(by: bytes, word, isCertain: true), !bytes.equals("dnp_", in: word.prefix(4)),
            end == text.upperBound || bytes[end] == UInt8(ascii: " ") || bytes[end] == UInt8(ascii: ":")
        else { return false }
        message = LogMessage(
            LogRule.Form(meaning: .event(.pluginError), phase: .plugin, remainder: .code, idNamesTask: false)
        )
        message.error = word
        readFields(bytes, end..<text.upperBound, &message)
        return true
    }
}

extension NetworkKind {
    /// The network of a word in a log line.
    init?(_ bytes: Span<UInt8>, _ word: Range<Int>) {
        for kind in Self.allCases where bytes.equalsIgnoringCase(kind.name, in: word) {
            self = kind
            return
        }
        if bytes.equalsIgnoringCase("wi-fi", in: word) {
            self = .wifi
        } else if bytes.equalsIgnoringCase("lte", in: word) {
            self = .cellular
        } else {
            return nil
        }
    }
}

extension Span<UInt8> {
    /// The most minutes that a line can tell, some ten years.
    private static var mostMinutes: Int64 { 5_270_400 }

    /// The whole number that a text begins with, behind a colon and its sign, which the plugin writes a plus before.
    ///
    /// - Parameter unit: what must follow it; empty for anything.
    func minutes(in range: Range<Int>, before unit: StaticString = "") -> Int32? {
        var cursor = LineCursor(trimmed(range, alsoLeading: UInt8(ascii: ":")))
        _ = cursor.consume(UInt8(ascii: "+"), self)
        let isNegative = cursor.consume(UInt8(ascii: "-"), self)
        guard let digits = cursor.digits(self), digits <= UInt64(Self.mostMinutes) else { return nil }
        let length = unit.utf8CodeUnitCount
        guard cursor.position + length <= range.upperBound,
            equalsIgnoringCase(unit, in: cursor.position..<cursor.position + length)
        else { return length == 0 ? Int32(digits) * (isNegative ? -1 : 1) : nil }
        return Int32(digits) * (isNegative ? -1 : 1)
    }

    /// Whether a list says that something is there: `JWT present`, `ETag="abc"`, `jwtPresent=true`; not `no JWT`,
    /// `ETag=nil`, or nothing of it.
    fileprivate func tells(of name: StaticString, in list: Range<Int>) -> Bool {
        guard let found = firstIndexIgnoringCase(of: name, in: list) else { return false }
        if found >= list.lowerBound + 3, equalsIgnoringCase("no ", in: found - 3..<found) { return false }
        var cursor = LineCursor(found + name.utf8CodeUnitCount, list.upperBound)
        while cursor.peek(self).isLetterOrDigit { cursor.position += 1 }
        while cursor.peek(self) == UInt8(ascii: " ") || cursor.peek(self) == UInt8(ascii: "=")
            || cursor.peek(self) == UInt8(ascii: ":")
        { cursor.position += 1 }
        if cursor.peek(self) == UInt8(ascii: "(") { cursor.position += 1 }
        let value = word(in: cursor.rest)
        if value.isEmpty || value.allSatisfy({ self[$0] == UInt8(ascii: "\"") }) { return false }
        let words: [StaticString] = ["none", "nil", "null", "absent", "missing", "false", "no", "not", "-", "empty"]
        return !words.contains { equalsIgnoringCase($0, in: value) }
    }

    private func firstIndexIgnoringCase(of name: StaticString, in range: Range<Int>) -> Int? {
        let length = name.utf8CodeUnitCount
        var start = range.lowerBound
        while start + length <= range.upperBound {
            if equalsIgnoringCase(name, in: start..<start + length),
                start == range.lowerBound || !self[start - 1].isLetterOrDigit
            {
                return start
            }
            start += 1
        }
        return nil
    }
}
