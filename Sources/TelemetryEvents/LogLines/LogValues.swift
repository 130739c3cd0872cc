// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {

    /// The key before an equals sign: letters, digits, underscores and dots after a space, a comma, a colon or a
    /// parenthesis; empty for anything else, such as a URL's query.
    func key(endingAt end: Int, from start: Int) -> Range<Int> {
        var first = end
        while first > start, self[first - 1].isPartOfKey { first -= 1 }
        guard first > 0 else { return first..<end }
        switch self[first - 1] {
        case UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: ":"), UInt8(ascii: "\t"):
            return first..<end
        default: return end..<end
        }
    }

    /// The index behind the `Optional(` that Swift prints before an optional value; the same index where there is none.
    func endOfOptional(at index: Int, in range: Range<Int>) -> Int {
        let end = index + 9
        guard end <= range.upperBound, self[index] == UInt8(ascii: "O"), equals("Optional(", in: index..<end) else {
            return index
        }
        return end
    }

    /// The value at an index: a quoted text, or what precedes a comma, a closing parenthesis or the next pair.
    ///
    /// - Parameter isSentence: whether commas and parentheses belong to the value, which then ends only before the next
    ///   known pair.
    func value(from start: Int, to end: Int, isSentence: Bool) -> Range<Int> {
        if start < end, self[start] == UInt8(ascii: "\"") {
            if let closing = firstIndex(of: UInt8(ascii: "\""), in: start + 1..<end) { return start + 1..<closing }
        }
        let stop = isSentence ? end : firstIndex(of: UInt8(ascii: ","), or: UInt8(ascii: ")"), in: start..<end)
        var position = start
        while let equals = firstIndex(of: UInt8(ascii: "="), in: position..<stop) {
            let key = key(endingAt: equals, from: start)
            if key.lowerBound > start, LogField.table.value(of: self, key) != nil {
                var last = key.lowerBound
                while last > start, self[last - 1] == UInt8(ascii: " ") || self[last - 1] == UInt8(ascii: ",") {
                    last -= 1
                }
                return start..<last
            }
            position = equals + 1
        }
        return start..<stop
    }

    /// Whether a line was cut short within a value: it ends the line, behind a parenthesis that is open.
    func isCutShort(_ value: Range<Int>, in line: Range<Int>) -> Bool {
        guard value.upperBound == line.upperBound else { return false }
        let before = line.lowerBound..<value.lowerBound
        let parenthesis = before.last { self[$0] == UInt8(ascii: "(") || self[$0] == UInt8(ascii: ")") }
        return parenthesis.map { self[$0] == UInt8(ascii: "(") } ?? false
    }

    /// The first word of a range; white space, a comma, a semicolon or a closing parenthesis ends it.
    func word(in range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        while start < range.upperBound, self[start] == UInt8(ascii: " ") { start += 1 }
        var end = start
        while end < range.upperBound, self[end] > 0x20, self[end] != UInt8(ascii: ")"), self[end] != UInt8(ascii: ","),
            self[end] != UInt8(ascii: ";")
        { end += 1 }
        return start..<end
    }

    /// Whether the value is a `...` placeholder, as in documentation.
    func isPlaceholder(_ range: Range<Int>) -> Bool {
        let text = trimmed(range)
        return text.count >= 3 && equals("...", in: text.lowerBound..<text.lowerBound + 3)
    }

    /// A counter's name, including its label if it has one.
    private func counterName(at start: Int, end: Int) -> Range<Int> {
        var position = start
        while position < end, self[position].isPartOfKey { position += 1 }
        guard position < end, self[position] == UInt8(ascii: "{") else { return start..<position }
        let limit = Swift.min(end, position + 64)
        guard let closing = firstIndex(of: UInt8(ascii: "}"), in: position..<limit) else { return start..<position }
        return start..<closing + 1
    }

    /// The number at the start of a value, times ten to a power; a unit after it is ignored: `180s`, `1.5s`, `2432ms`.
    ///
    /// - Parameter power: 6 reads seconds as microseconds, and milliseconds if the unit says so.
    func number(_ range: Range<Int>, power: Int = 0, _ allowed: ClosedRange<Int64>) -> Int64? {
        let text = trimmed(range)
        var number = JSONNumber()
        var position = text.lowerBound
        while position < text.upperBound, self[position].isDigit {
            number.append(digit: self[position], afterPoint: false)
            position += 1
        }
        guard position > text.lowerBound else { return nil }
        if position + 1 < text.upperBound, self[position] == UInt8(ascii: "."), self[position + 1].isDigit {
            position += 1
            while position < text.upperBound, self[position].isDigit {
                number.append(digit: self[position], afterPoint: true)
                position += 1
            }
        }
        let isMilliseconds =
            power == 6 && position + 2 <= text.upperBound && equals("ms", in: position..<position + 2)
        return number.scaled(byPowerOfTen: isMilliseconds ? 3 : power, in: allowed, exact: false)
    }

    func boolean(_ range: Range<Int>) -> Bool? {
        let word = word(in: range)
        if equalsIgnoringCase("true", in: word) || equalsIgnoringCase("yes", in: word) { return true }
        if equalsIgnoringCase("false", in: word) || equalsIgnoringCase("no", in: word) { return false }
        return nil
    }

    /// The leading hexadecimal digits of a value; empty if other letters follow.
    func hash(_ range: Range<Int>) -> Event.Text {
        var end = range.lowerBound
        while end < range.upperBound, self[end].isHexDigit { end += 1 }
        let digits = range.lowerBound..<end
        let isWhole = end == range.upperBound || !self[end].isLetterOrDigit
        return isWhole && (1...128).contains(digits.count) ? digits : 0..<0
    }

    /// The counters of a snapshot: `name=value`, `name: value` or `name value`; names without a value are ignored.
    func counters(_ range: Range<Int>) -> ClientCounts {
        var counts = ClientCounts()
        var position = range.lowerBound
        while position < range.upperBound {
            guard self[position].isLetterOrDigit else {
                position += 1
                continue
            }
            let name = counterName(at: position, end: range.upperBound)
            position = Swift.max(name.upperBound, position + 1)
            guard let counter = counter(named: name) else { continue }
            var start = position
            while start < range.upperBound, start - position < 3,
                self[start] == UInt8(ascii: "=") || self[start] == UInt8(ascii: ":") || self[start] == UInt8(ascii: " ")
            { start += 1 }
            if let value = number(start..<range.upperBound, 0...LogMessageReader.tebibyte) {
                counts[counter] = UInt64(value)
            }
        }
        return counts
    }

    /// The counter of a name; the plugin's own snapshot writes `DNP-` instead of `dnp_`.
    private func counter(named name: Range<Int>) -> ClientCounter? {
        if let counter = EventVocabulary.shared.clientCounters.value(of: self, name) { return counter }
        return ClientCounter.allCases.first { counter in
            let known = counter.name.bytes.dropFirst(4)
            return known.count == name.count && zip(known, name).allSatisfy { $0 == self[$1] }
        }
    }
}

extension UInt8 {
    /// A bit set: digits and the point, then letters and the underscore.
    @inline(__always)
    fileprivate var isPartOfKey: Bool {
        let set: UInt64 = self < 64 ? 0x03FF_4000_0000_0000 : self < 128 ? 0x07FF_FFFE_87FF_FFFE : 0
        return set >> UInt64(self & 63) & 1 == 1
    }
}
