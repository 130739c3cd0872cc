// SPDX-License-Identifier: Apache-2.0

/// Who wrote a line: a component of the plugin, as named in `[DNP-...]`, in a logcat tag or in an Apple logging category, or
/// the background refresh. Raw values are stored.
public enum LogComponent: UInt8, CaseIterable, Sendable {
    /// `[DNP-FETCH]`
    case fetch
    /// `[DNP-SCHEDULER]`
    case scheduler
    /// `[DNP-PLUGIN]`
    case plugin
    /// `[DNP-STORAGE]`
    case storage
    /// `DNP-DEBUG:`, which developers read; its lines tell of nothing.
    case debug
    /// `[BackgroundRefresh]`
    case backgroundRefresh
}

/// A marker such as `[DNP-FETCH]` in a line.
struct LogMarker {
    /// How far into text of unknown format a marker is searched.
    static let reach = 1_024
    /// The maximum length of a name.
    fileprivate static let longestName = 32

    /// Nil if the name is no known component.
    var component: LogComponent?
    /// The index of the opening bracket.
    var start: Int
    /// The index after the closing bracket.
    var end: Int
}

extension Span<UInt8> {

    /// The component whose name begins here, ignoring case, and the name's length. Does not check what follows.
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
        } else if word & 0xFF_FFFF_FFFF == 0x67_7562_6564 {  // debug
            found = (.debug, 5)
        } else {
            return nil
        }
        return index + found.length <= end ? found : nil
    }

    /// Whether `DNP-` begins here, ignoring case.
    @inline(__always)
    func hasMarkerHead(at index: Int, end: Int) -> Bool {
        index + 4 < end && (paddedWord(at: index) | 0x0020_2020) & 0xFFFF_FFFF == 0x2D70_6E64
    }

    /// The marker that begins here.
    @inline(__always)
    func marker(at index: Int, end: Int) -> LogMarker? {
        guard index + 6 < end, self[index] == UInt8(ascii: "[") else { return nil }
        guard hasMarkerHead(at: index + 1, end: end) else {
            return hasRefreshHead(at: index + 1) ? refreshMarker(at: index, end: end) : nil
        }
        if let name = componentName(at: index + 5, end: end), index + 5 + name.length < end,
            self[index + 5 + name.length] == UInt8(ascii: "]")
        {
            return LogMarker(component: name.component, start: index, end: index + 6 + name.length)
        }
        return unknownMarker(name: index + 5, end: end)
    }

    /// The marker that begins a message here, with or without brackets.
    @inline(__always)
    func opening(at index: Int, end: Int) -> LogMarker? {
        marker(at: index, end: end) ?? unbracketedMarker(at: index, end: end)
    }

    /// The marker without brackets that begins a message here, as `NSLog` writes it: `DNP-FETCH: `, in capitals, because
    /// other programs have names such as `dnp-telemetry: `.
    @inline(__always)
    func unbracketedMarker(at index: Int, end: Int) -> LogMarker? {
        guard index + 5 < end else { return nil }
        let word = paddedWord(at: index)
        if word & 0xFFFF_FFFF == 0x2D50_4E44 { return unbracketedMarker(name: index + 4, end: end) }
        return word == Self.refreshHead ? unbracketedRefreshMarker(at: index, end: end) : nil
    }

    @inline(never)
    private func unbracketedMarker(name: Int, end: Int) -> LogMarker? {
        let close = endOfMarkerName(at: name, end: end)
        guard close > name, close < end, self[close] == UInt8(ascii: ":"),
            close + 1 == end || self[close + 1] <= 0x20
        else { return nil }
        for index in name..<close where self[index] != self[index].uppercasedASCII { return nil }
        let known = componentName(at: name, end: end)
        let component = known.flatMap { name + $0.length == close ? $0.component : nil }
        return LogMarker(component: component, start: name - 4, end: close + 1)
    }

    /// The component that a program has as its name, such as `DNP-FETCH`.
    @inline(__always)
    func component(ofProgram name: Range<Int>) -> LogComponent? {
        if isRefreshName(name) { return .backgroundRefresh }
        guard name.count > 5, paddedWord(at: name.lowerBound) & 0xFFFF_FFFF == 0x2D50_4E44,
            let found = componentName(at: name.lowerBound + 4, end: name.upperBound),
            found.length + 4 == name.count
        else { return nil }
        return found.component
    }

    @inline(never)
    private func unknownMarker(name: Int, end: Int) -> LogMarker? {
        let close = endOfMarkerName(at: name, end: end)
        guard close > name, close < end, self[close] == UInt8(ascii: "]") else { return nil }
        return LogMarker(component: nil, start: name - 5, end: close + 1)
    }

    /// The end of a possible marker name: a letter, then letters, digits, `_` and `-`.
    func endOfMarkerName(at start: Int, end: Int) -> Int {
        var index = start
        let limit = Swift.min(end, start + LogMarker.longestName)
        while index < limit, self[index].isLetterOrDigit || self[index] == 0x5F || self[index] == UInt8(ascii: "-") {
            index += 1
        }
        return index > start && self[start].isDigit ? start : index
    }

    /// The first marker in text of unknown format that is within reach, separate and unquoted.
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
            UInt8(ascii: "|"), UInt8(ascii: "-"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "'"),
            UInt8(ascii: "`"):
            true
        default: false
        }
    }

    private func isInQuotes(_ index: Int, from start: Int) -> Bool {
        var quotes = 0
        for position in start..<index where self[position] == UInt8(ascii: "\"") { quotes += 1 }
        return quotes % 2 == 1
    }

    /// The index of the first `[`, scanning eight bytes at a time.
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

/// The subsystem and categories of the plugin in Apple's unified logging.
enum AppleSubsystem {
    /// The maximum length of `subsystem:category`.
    static let reach = 256

    /// The component of `subsystem:category`; nil if either is not the plugin's.
    static func component(_ bytes: Span<UInt8>, _ range: Range<Int>) -> LogComponent? {
        if let component = RefreshLog.component(bytes, range) { return component }
        let colon = range.lowerBound + 32
        guard colon < range.upperBound, bytes[colon] == UInt8(ascii: ":") else { return nil }
        return component(bytes, subsystem: range.lowerBound..<colon, category: colon + 1..<range.upperBound)
    }

    /// The component of a category in a subsystem; nil if either is not the plugin's.
    static func component(_ bytes: Span<UInt8>, subsystem: Range<Int>, category: Range<Int>) -> LogComponent? {
        if bytes.equals(RefreshLog.subsystem, in: subsystem) {
            return bytes.isRefreshName(category) ? .backgroundRefresh : nil
        }
        return bytes.equals("com.timesafari.dailynotification", in: subsystem)
            ? component(bytes, category: category) : nil
    }

    /// The component of a category, which other subsystems may have too; nil if the plugin has none of that name.
    static func component(_ bytes: Span<UInt8>, category: Range<Int>) -> LogComponent? {
        guard let name = bytes.componentName(at: category.lowerBound, end: category.upperBound),
            name.length == category.count
        else { return nil }
        return name.component
    }
}
