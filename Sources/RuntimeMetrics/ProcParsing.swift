// SPDX-License-Identifier: Apache-2.0

/// A place in a text of words and whole numbers between blanks.
struct NumberScanner {
    private var place = 0

    /// The next word's range on this line; nil at the line's end.
    mutating func word(_ text: Span<UInt8>) -> Range<Int>? {
        while place < text.count, text[place] == UInt8(ascii: " ") { place += 1 }
        let start = place
        while place < text.count, text[place] > UInt8(ascii: " ") { place += 1 }
        return start == place ? nil : start..<place
    }

    /// The next word as a whole number; nil when it isn't one or is too large.
    mutating func number(_ text: Span<UInt8>) -> UInt64? {
        guard let word = word(text) else { return nil }
        var number: UInt64 = 0
        for index in word {
            let digit = text[index] &- UInt8(ascii: "0")
            let (product, overflowed) = number.multipliedReportingOverflow(by: 10)
            let (sum, passed) = product.addingReportingOverflow(UInt64(digit))
            if digit > 9 || overflowed || passed { return nil }
            number = sum
        }
        return number
    }

    /// Passes over `count` words.
    mutating func skip(_ count: Int, _ text: Span<UInt8>) {
        for _ in 0..<count { _ = word(text) }
    }

    /// Goes to the start of the next line; false at the end.
    mutating func nextLine(_ text: Span<UInt8>) -> Bool {
        while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
        place += 1
        return place < text.count
    }

    /// Goes behind the last byte of this value; false when there is none.
    mutating func goBehindLast(_ byte: UInt8, _ text: Span<UInt8>) -> Bool {
        for index in text.indices.reversed() where text[index] == byte {
            place = index + 1
            return true
        }
        return false
    }
}

extension Span<UInt8> {
    func holds(_ word: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for offset in 0..<range.count where unsafe self[range.lowerBound + offset] != word[offset] { return false }
            return true
        }
    }
}
