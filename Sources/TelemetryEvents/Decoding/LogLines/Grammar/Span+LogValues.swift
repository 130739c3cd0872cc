// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// The number that a value begins with, times ten to a power; a unit behind it is passed over: `180s`, `1.5s`, `2432ms`.
    ///
    /// - Parameter power: 6 reads seconds as microseconds, and milliseconds where the unit says so.
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

    /// The hexadecimal digits that a value begins with; empty when letters follow.
    func hash(_ range: Range<Int>) -> Event.Text {
        var end = range.lowerBound
        while end < range.upperBound, self[end].isHexDigit { end += 1 }
        let digits = range.lowerBound..<end
        let isWhole = end == range.upperBound || !self[end].isLetterOrDigit
        return isWhole && (1...128).contains(digits.count) ? digits : 0..<0
    }

    /// The counters of a snapshot: `name=value`, `name: value` or `name value`; a name without a value says nothing.
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

    /// The counter of a name; the plugin's own snapshot writes `DNP-` in place of `dnp_`.
    private func counter(named name: Range<Int>) -> ClientCounter? {
        if let counter = EventVocabulary.shared.clientCounters.value(of: self, name) { return counter }
        return ClientCounter.allCases.first { counter in
            let known = counter.name.bytes.dropFirst(4)
            return known.count == name.count && zip(known, name).allSatisfy { $0 == self[$1] }
        }
    }
}
