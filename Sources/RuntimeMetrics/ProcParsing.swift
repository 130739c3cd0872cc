// SPDX-License-Identifier: Apache-2.0

/// The figures of `/proc/self/stat` (proc(5)).
struct ProcessStatus: Equatable {
    var threads: UInt64
    /// Clock ticks from boot to the start of the process.
    var startTicks: UInt64
    var virtualBytes: UInt64
    var residentPages: UInt64

    /// Parses the file; nil if it is malformed.
    init?(_ text: Span<UInt8>) {
        var scanner = NumberScanner()
        // The second field is the name in parentheses, which may contain any text.
        guard scanner.skipPastLast(UInt8(ascii: ")"), text) else { return nil }
        scanner.skip(17, text)
        guard let threads = scanner.number(text) else { return nil }
        scanner.skip(1, text)
        guard let start = scanner.number(text), let bytes = scanner.number(text), let pages = scanner.number(text)
        else {
            return nil
        }
        self.threads = threads
        startTicks = start
        virtualBytes = bytes
        residentPages = pages
    }
}

/// The octets in `/proc/self/net/netstat`, for the network namespace.
struct NetworkTraffic: Equatable {
    var received: UInt64
    var sent: UInt64

    /// Parses the file; nil without a line `IpExt` of names followed by one of numbers.
    init?(_ text: Span<UInt8>) {
        var scanner = NumberScanner()
        repeat {
            guard Self.isTitle(scanner.word(text), text) else { continue }
            guard let columns = Columns(&scanner, text), scanner.nextLine(text),
                Self.isTitle(scanner.word(text), text)
            else { return nil }
            var numbers: (received: UInt64?, sent: UInt64?)
            for column in 0...max(columns.received, columns.sent) {
                let number = scanner.number(text)
                if column == columns.received { numbers.received = number }
                if column == columns.sent { numbers.sent = number }
            }
            guard let received = numbers.received, let sent = numbers.sent else { return nil }
            self.received = received
            self.sent = sent
            return
        } while scanner.nextLine(text)
        return nil
    }

    private static func isTitle(_ word: Range<Int>?, _ text: Span<UInt8>) -> Bool {
        word.map { text.matches("IpExt:", at: $0) } ?? false
    }

    private struct Columns {
        let received: Int
        let sent: Int

        init?(_ scanner: inout NumberScanner, _ text: Span<UInt8>) {
            var received: Int?
            var sent: Int?
            var column = 0
            while let name = scanner.word(text) {
                if text.matches("InOctets", at: name) { received = column }
                if text.matches("OutOctets", at: name) { sent = column }
                column += 1
            }
            guard let received, let sent else { return nil }
            self.received = received
            self.sent = sent
        }
    }
}

/// A read position in a text of words and whole numbers separated by spaces.
struct NumberScanner {
    private var place = 0

    /// The range of the next word on this line; nil at the end of the line.
    mutating func word(_ text: Span<UInt8>) -> Range<Int>? {
        while place < text.count, text[place] == UInt8(ascii: " ") { place += 1 }
        let start = place
        while place < text.count, text[place] > UInt8(ascii: " ") { place += 1 }
        return start == place ? nil : start..<place
    }

    /// The next word as a whole number; nil if it is not one or is too large.
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

    /// Skips `count` words.
    mutating func skip(_ count: Int, _ text: Span<UInt8>) {
        for _ in 0..<count { _ = word(text) }
    }

    /// Moves to the start of the next line; false at the end.
    mutating func nextLine(_ text: Span<UInt8>) -> Bool {
        while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
        place += 1
        return place < text.count
    }

    /// Moves past the last `byte` of the text; false if there is none.
    mutating func skipPastLast(_ byte: UInt8, _ text: Span<UInt8>) -> Bool {
        for index in text.indices.reversed() where text[index] == byte {
            place = index + 1
            return true
        }
        return false
    }
}

extension Span<UInt8> {
    func matches(_ word: StaticString, at range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in
            for offset in 0..<range.count where unsafe self[range.lowerBound + offset] != word[offset] { return false }
            return true
        }
    }
}
