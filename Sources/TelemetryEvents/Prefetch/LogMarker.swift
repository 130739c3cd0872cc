// SPDX-License-Identifier: Apache-2.0

/// A part of the plugin: what stands in `[DNP-...]`, in a logcat tag or in an Apple logging category.
public enum LogComponent: UInt8, CaseIterable, Sendable {
    /// `[DNP-FETCH]`
    case fetch
    /// `[DNP-SCHEDULER]`
    case scheduler
    /// `[DNP-PLUGIN]`
    case plugin
    /// `[DNP-STORAGE]`
    case storage
}

/// `[DNP-FETCH]` and its like, found in a line.
struct LogMarker {
    /// How far into the unknown text in front of it a marker is looked for.
    static let reach = 1_024
    /// How long a name may be.
    static let longestName = 32

    /// Nil: the name is none of the components.
    var component: LogComponent?
    /// The opening bracket.
    var start: Int
    /// Behind the closing bracket.
    var end: Int
}

extension Span<UInt8> {
    /// Eight bytes as one word, the first the lowest; zeros behind the end of the bytes.
    @inline(__always)
    func paddedWord(at index: Int) -> UInt64 {
        index + 8 <= count ? word(at: index) : wordAtEnd(at: index)
    }

    @inline(never)
    private func wordAtEnd(at index: Int) -> UInt64 {
        var word: UInt64 = 0
        var place = count - 1
        while place >= index {
            word = word << 8 | UInt64(self[place])
            place -= 1
        }
        return word
    }

    /// The component whose name stands here in any letter case, and how long the name is. What follows is not looked at.
    @inline(__always)
    func componentName(at index: Int, end: Int) -> (component: LogComponent, length: Int)? {
        let word = paddedWord(at: index) | 0x2020_2020_2020_2020
        let found: (component: LogComponent, length: Int)
        if word & 0xFF_FFFF_FFFF == 0x68_6374_6566 {  // fetch
            found = (.fetch, 5)
        } else if word == 0x656C_7564_6568_6373, index + 8 < end,
            self[index + 8] | 0x20 == UInt8(ascii: "r")
        {
            found = (.scheduler, 9)  // schedule, r
        } else if word & 0xFFFF_FFFF_FFFF == 0x6E69_6775_6C70 {  // plugin
            found = (.plugin, 6)
        } else if word & 0xFF_FFFF_FFFF_FFFF == 0x65_6761_726F_7473 {  // storage
            found = (.storage, 7)
        } else {
            return nil
        }
        return index + found.length <= end ? found : nil
    }

    /// Whether `DNP-` stands here in any letter case.
    @inline(__always)
    func hasMarkerHead(at index: Int, end: Int) -> Bool {
        index + 4 < end && (paddedWord(at: index) | 0x0020_2020) & 0xFFFF_FFFF == 0x2D70_6E64
    }

    /// The marker that begins here.
    @inline(__always)
    func marker(at index: Int, end: Int) -> LogMarker? {
        guard index + 6 < end, self[index] == UInt8(ascii: "["), hasMarkerHead(at: index + 1, end: end)
        else {
            return nil
        }
        if let name = componentName(at: index + 5, end: end), index + 5 + name.length < end,
            self[index + 5 + name.length] == UInt8(ascii: "]")
        {
            return LogMarker(component: name.component, start: index, end: index + 6 + name.length)
        }
        return unknownMarker(name: index + 5, end: end)
    }

    @inline(never)
    private func unknownMarker(name: Int, end: Int) -> LogMarker? {
        let close = endOfMarkerName(at: name, end: end)
        guard close > name, close < end, self[close] == UInt8(ascii: "]") else { return nil }
        return LogMarker(component: nil, start: name - 5, end: close + 1)
    }

    /// Where a name ends that may stand in a marker: a letter, then letters, digits, `_` and `-`.
    func endOfMarkerName(at start: Int, end: Int) -> Int {
        var index = start
        let limit = Swift.min(end, start + LogMarker.longestName)
        while index < limit, self[index].isLetterOrDigit || self[index] == 0x5F || self[index] == UInt8(ascii: "-") {
            index += 1
        }
        return index > start && self[start].isDigit ? start : index
    }

    /// The first marker in text of unknown form, within the reach, that stands by itself and in no quotes.
    func firstMarker(in range: Range<Int>) -> LogMarker? {
        let end = Swift.min(range.upperBound, range.lowerBound + LogMarker.reach)
        var index = range.lowerBound
        while let bracket = firstBracket(from: index, to: end) {
            if let marker = marker(at: bracket, end: range.upperBound),
                bracket == range.lowerBound || Self.endsPrefix(self[bracket - 1]),
                !isInQuotes(bracket, from: range.lowerBound)
            {
                return marker
            }
            index = bracket + 1
        }
        return nil
    }

    /// Whether a marker may follow the byte.
    private static func endsPrefix(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: ")"), UInt8(ascii: ">"),
            UInt8(ascii: "|"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private func isInQuotes(_ index: Int, from start: Int) -> Bool {
        var quotes = 0
        for place in start..<index where self[place] == UInt8(ascii: "\"") { quotes += 1 }
        return quotes % 2 == 1
    }

    /// Where the first `[` is, eight bytes at a time.
    @inline(__always)
    private func firstBracket(from start: Int, to end: Int) -> Int? {
        var index = start
        while index + 8 <= end {
            let found = word(at: index).bytes(equalTo: UInt8(ascii: "["))
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end {
            if self[index] == UInt8(ascii: "[") { return index }
            index += 1
        }
        return nil
    }
}

extension UInt64 {
    /// The high bit of each byte that equals the given one; bytes above the first such may be marked wrongly.
    @inline(__always)
    func bytes(equalTo byte: UInt8) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = self ^ ones &* UInt64(byte)
        return (difference &- ones) & ~difference & 0x8080_8080_8080_8080
    }
}

/// The subsystem and the categories under which the plugin logs to Apple's unified logging.
enum AppleSubsystem {
    /// How long `subsystem:category` may be.
    static let reach = 256

    /// The component of `subsystem:category`; nil where either is another.
    static func component(_ bytes: Span<UInt8>, _ range: Range<Int>) -> LogComponent? {
        let colon = range.lowerBound + 32
        guard colon < range.upperBound, bytes[colon] == UInt8(ascii: ":") else { return nil }
        return component(bytes, subsystem: range.lowerBound..<colon, category: colon + 1..<range.upperBound)
    }

    /// The component of a category in a subsystem; nil where either is another.
    static func component(_ bytes: Span<UInt8>, subsystem: Range<Int>, category: Range<Int>) -> LogComponent? {
        guard bytes.equals("com.timesafari.dailynotification", in: subsystem),
            let name = bytes.componentName(at: category.lowerBound, end: category.upperBound),
            name.length == category.count
        else { return nil }
        return name.component
    }
}

extension UnwrappedLine {
    /// Takes a message with `(library)` and `[subsystem:category]` or `[category]` in front of it, where they are there.
    mutating func takeAppleMessage(_ bytes: Span<UInt8>, _ message: LineCursor) {
        var cursor = message
        cursor.skipSpaces(bytes)
        if cursor.peek(bytes) == UInt8(ascii: "(") {
            var ahead = cursor
            if ahead.skip(through: UInt8(ascii: ")"), bytes), ahead.peek(bytes) == UInt8(ascii: " ") {
                ahead.skipSpaces(bytes)
                cursor = ahead
            }
        }
        if cursor.peek(bytes) == UInt8(ascii: "["), bytes.marker(at: cursor.position, end: cursor.end) == nil {
            let group = cursor.position + 1
            var ahead = LineCursor(group, Swift.min(cursor.end, group + AppleSubsystem.reach))
            if ahead.skip(through: UInt8(ascii: "]"), bytes) {
                component = AppleSubsystem.component(bytes, group..<ahead.position - 1)
                cursor.position = ahead.position
            }
        }
        takeMessage(bytes, cursor)
    }
}
