// SPDX-License-Identifier: Apache-2.0

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
