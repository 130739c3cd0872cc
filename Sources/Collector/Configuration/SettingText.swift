// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

/// Parses the texts of settings.
enum SettingText {
    private static let sizes = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("", 1)]
    private static let durations: [(String, Int64)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    private static let rates = [("/s", 1.0), ("/m", 60), ("/h", 3_600)]

    /// Bytes: `65536`, `64KiB`, `32MiB`, `1GiB`.
    static func size(_ text: String, _ range: ClosedRange<Int>) throws(SettingError) -> Int {
        for (unit, factor) in sizes where text.hasSuffix(unit) {
            guard let number = digits(text.dropLast(unit.count)) else { break }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
            if !overflow, range.contains(bytes) { return bytes }
            break
        }
        throw SettingError(
            expected: "bytes from \(shown(range.lowerBound)) to \(shown(range.upperBound)), such as 32MiB",
            found: text
        )
    }

    /// A time: `250ms`, `10s`, `5m`, `1h`, `7d`.
    static func duration(_ text: String, _ range: ClosedRange<Duration>) throws(SettingError) -> Duration {
        for (unit, factor) in durations where text.hasSuffix(unit) {
            guard let number = digits(text.dropLast(unit.count)) else { continue }
            let (milliseconds, overflow) = Int64(number).multipliedReportingOverflow(by: factor)
            if !overflow, range.contains(.milliseconds(milliseconds)) { return .milliseconds(milliseconds) }
            break
        }
        if text == "0", range.contains(.zero) { return .zero }
        throw SettingError(
            expected: "a time from \(shown(range.lowerBound)) to \(shown(range.upperBound)), such as 10s",
            found: text
        )
    }

    /// A rate in a second: `500/s`, `30/m`, `100/h`.
    static func rate(_ text: String) throws(SettingError) -> Double {
        for (unit, seconds) in rates where text.hasSuffix(unit) {
            if let number = digits(text.dropLast(unit.count)), (1...1_000_000_000).contains(number) {
                return Double(number) / seconds
            }
        }
        throw SettingError(expected: "a rate such as 500/s, 30/m or 100/h", found: text)
    }

    static func count(_ text: String, _ range: ClosedRange<Int>) throws(SettingError) -> Int {
        guard let number = digits(text[...]), range.contains(number) else {
            throw SettingError(
                expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
                found: text
            )
        }
        return number
    }

    /// A share of all connections: `half`, `100`, `off`.
    static func share(_ text: String) throws(SettingError) -> ConnectionShare {
        switch text {
        case "half": return .half
        case "off": return .all
        default:
            guard let number = digits(text[...]), (1...1_000_000).contains(number) else {
                throw SettingError(expected: "half, a whole number from 1 to 1000000, or off", found: text)
            }
            return .count(number)
        }
    }

    static func flag(_ text: String) throws(SettingError) -> Bool {
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw SettingError(expected: "true or false", found: text)
        }
    }

    /// One of a few words.
    static func choice<Value: RawRepresentable<String>>(
        _ text: String,
        _ values: [Value]
    ) throws(SettingError) -> Value {
        do throws(UnknownChoice) {
            return try UnknownChoice.check(text, values)
        } catch {
            throw SettingError(error.description)
        }
    }

    /// `off`, or what the closure reads.
    static func unlessOff<Value>(
        _ text: String,
        _ read: (String) throws(SettingError) -> Value
    ) throws(SettingError) -> Value? {
        text == "off" ? nil : try read(text)
    }

    /// A whole number without a sign; nil for anything else, and for one that is too large.
    private static func digits(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text)
    }

    /// Bytes in the largest unit that leaves a whole number.
    static func shown(_ bytes: Int) -> String {
        let unit = sizes.dropLast().last { bytes >= $0.1 && bytes % $0.1 == 0 }
        return unit.map { "\(bytes / $0.1)\($0.0)" } ?? "\(bytes)"
    }

    /// A time in the largest unit that leaves a whole number.
    static func shown(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return "0" }
        let unit = durations.last { milliseconds % $0.1 == 0 }
        return unit.map { "\(milliseconds / $0.1)\($0.0)" } ?? "\(milliseconds)ms"
    }
}

/// A problem of the text of a setting, without its origin.
struct SettingError: Error, Hashable, Sendable {
    /// What was expected and what was found.
    var message: String
    /// The index of the faulty value in a list.
    var index = 0

    init(_ message: String) {
        self.message = message
    }

    /// - Parameters:
    ///   - expected: what would be right, as in "a port from 0 to 65535".
    ///   - found: the text.
    init(expected: String, found: String) {
        self.init("expected \(expected), found \(found.isEmpty ? "nothing" : "\"\(found.prefix(200))\"")")
    }
}

/// A duration as options write it: `250ms`, `10s`, `5m`, `2h`, `7d`.
package struct TimeSpan: Hashable, Sendable, CustomStringConvertible {
    /// The longest.
    static let longest = Duration.seconds(366 * 86_400)

    /// How long it is.
    package let duration: Duration

    /// - Parameter duration: in whole milliseconds.
    package init(_ duration: Duration) {
        self.duration = duration
    }

    /// Nil for a text that is not a time.
    package init?(_ text: String) {
        guard let duration = try? SettingText.duration(text, .zero...Self.longest) else { return nil }
        self.duration = duration
    }

    /// In the largest unit that leaves a whole number.
    package var description: String { SettingText.shown(duration) }
}

/// The rules for the path of the metrics.
package enum MetricsPath {
    /// The default path.
    package static let `default` = "/metrics"

    /// The expectation that a path fails; nil for a valid one.
    package static func complaint(about path: String) -> String? {
        guard path.utf8.count <= 256 else { return "a path of at most 256 bytes" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count > 1, segments[0].isEmpty, segments.dropFirst().allSatisfy(isName) else {
            return "a path such as /metrics, of letters, digits, \"-\", \".\", \"_\" and \"~\" between slashes"
        }
        guard !["v1", "api", "-"].contains(segments[1]) else {
            return "a path that does not begin with /v1, /api or /-, which have other uses"
        }
        return nil
    }

    private static func isName(_ segment: Substring) -> Bool {
        !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(isUnreserved)
    }

    /// RFC 3986, 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// The rules for matches of the journal as journalctl takes them (journalctl(1)).
enum JournalMatchText {
    /// Whether this may be the name of a field, with the leading underscore of a trusted one.
    static func isField(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard (1...64).contains(bytes.count), !(0x30...0x39).contains(bytes[0]) else { return false }
        return bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
