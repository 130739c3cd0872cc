// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import TelemetryEvents
internal import TextOutput

/// One line of the service's own log. Whatever the message and the values hold, it stays one line of its form: control and
/// format characters, quotes and line feeds are escaped.
struct LogLine {
    let level: Logger.Level
    let message: String
    /// In the order of the keys.
    let values: [(key: String, value: String)]
    /// Microseconds since 1970; nil where the receiver stamps lines itself.
    var time: Int64?

    init(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:], time: Int64?) {
        self.level = level
        self.message = message
        values = metadata.sorted { $0.key < $1.key }.map { (Self.key($0.key), "\($0.value)") }
        self.time = time
    }

    /// The line without its end.
    ///
    /// - Parameter hasLevel: whether the text names the level; the other forms always do.
    func text(_ format: LogFormat, hasLevel: Bool = true) -> String {
        switch format {
        case .text: plain(hasLevel: hasLevel)
        case .logfmt: pairs.map { "\($0.key)=\(Self.word($0.value))" }.joined(separator: " ")
        case .json: "{" + pairs.map { "\(Self.quoted($0.key)):\(Self.quoted($0.value))" }.joined(separator: ",") + "}"
        }
    }

    private func plain(hasLevel: Bool) -> String {
        var text = stamp.map { "\($0) " } ?? ""
        if hasLevel { text += "\(level): " }
        Self.append(message, to: &text, isQuoted: false)
        for (key, value) in values { text += " \(key)=\(Self.word(value))" }
        return text
    }

    private var pairs: [(key: String, value: String)] {
        (stamp.map { [("ts", $0)] } ?? []) + [("level", level.rawValue), ("msg", message)] + values
    }

    private var stamp: String? { time.map { "\(Timestamp(microseconds: $0))" } }

    /// A key of letters, digits and `._-`, which is none of the line's own.
    private static func key(_ name: String) -> String {
        let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "_" })
        return ["", "ts", "level", "msg"].contains(plain) ? plain + "_" : plain
    }

    /// A value as it is where nothing of it could be taken for something else, else in quotes.
    private static func word(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
        }
        return isPlain && !value.isEmpty && !value.contains("\\") ? value : quoted(value)
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        append(value, to: &text, isQuoted: true)
        return text + "\""
    }

    /// Appends a text with the escapes of JSON (RFC 8259, 7), which readers of logfmt know too.
    private static func append(_ value: String, to text: inout String, isQuoted: Bool) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"" where isQuoted: text += "\\\""
            case "\\" where isQuoted: text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where PlainText.isUnsafe(scalar): for unit in String(scalar).utf16 { text += escape(unit) }
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
