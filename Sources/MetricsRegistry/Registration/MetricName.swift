// SPDX-License-Identifier: Apache-2.0

/// The syntax of names (Prometheus data model, UTF-8 names).
///
/// A classic metric name is `[a-zA-Z_:][a-zA-Z0-9_:]*`; a classic label name has no colon. Any other text without
/// control characters is a name too; how a page shows it depends on the page's `NameEscaping`.
enum MetricName {
    static func isClassic(_ name: String) -> Bool {
        isIdentifier(name, allowingColon: true)
    }

    static func isClassicLabel(_ name: String) -> Bool {
        isIdentifier(name, allowingColon: false)
    }

    /// Whether a registry accepts the name.
    static func isValid(_ name: String, allowingUTF8: Bool) -> Bool {
        isClassic(name) || (allowingUTF8 && !name.isEmpty && !holdsControlCharacters(name))
    }

    /// Whether a registry accepts the label name. A colon is refused: every escaping keeps it, and no label may have
    /// one.
    static func isValidLabel(_ name: String, allowingUTF8: Bool) -> Bool {
        isValid(name, allowingUTF8: allowingUTF8) && !name.utf8.contains(UInt8(ascii: ":"))
    }

    /// Whether a label name belongs to Prometheus, which drops names that start with two underscores.
    ///
    /// This includes names that an escaping shows that way, as `dots` does when the first character is neither a
    /// letter nor a dot.
    static func isReservedLabel(_ name: String) -> Bool {
        NameEscaping.allCases.contains { $0.escape(name).utf8.starts(with: "__".utf8) }
    }

    /// Whether a byte is legal in a classic metric name, at its start or after it.
    static func isClassicByte(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
        default: false
        }
    }

    private static func isIdentifier(_ name: String, allowingColon: Bool) -> Bool {
        var first = true
        for byte in name.utf8 {
            guard isClassicByte(byte, first: first), allowingColon || byte != UInt8(ascii: ":") else { return false }
            first = false
        }
        return !first
    }

    private static func holdsControlCharacters(_ name: String) -> Bool {
        name.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }
}

/// How a page shows names that are not `[a-zA-Z_:][a-zA-Z0-9_:]*`.
///
/// The raw value is the parameter `escaping=` of Accept and Content-Type headers. The schemes are those of Prometheus
/// content negotiation; all of them leave a classic name unchanged.
public enum NameEscaping: String, Sendable, Hashable, CaseIterable {
    /// Unchanged, in quotes.
    case allowUTF8 = "allow-utf-8"
    /// Each other character as one underscore: `my.metric` is `my_metric`.
    case underscores
    /// Dots as `_dot_`, underscores doubled: `my.metric` is `my_dot_metric`. Reversible where only dots differ.
    case dots
    /// `U__` in front, each other character as its code point: `my.metric` is `U__my_2e_metric`. Reversible.
    case values
}

extension NameEscaping {
    /// The name as a page with this escaping shows it, without quotes; classic names are unchanged.
    ///
    /// These are the schemes of prometheus.io/docs/instrumenting/escaping_schemes, as the Go library applies them to
    /// families and labels.
    func escape(_ name: String) -> String {
        if self == .allowUTF8 || name.isEmpty || MetricName.isClassic(name) { return name }
        var escaped = self == .values ? "U__" : ""
        var first = true
        for scalar in name.unicodeScalars {
            let isClassic = scalar.isASCII && MetricName.isClassicByte(UInt8(scalar.value), first: first)
            switch (self, scalar) {
            case (.dots, "_"), (.values, "_"): escaped += "__"
            case (.dots, "."): escaped += "_dot_"
            case _ where isClassic: escaped.unicodeScalars.append(scalar)
            case (.values, _): escaped += "_\(String(scalar.value, radix: 16))_"
            case (.dots, _): escaped += "__"
            default: escaped += "_"
            }
            first = false
        }
        return escaped
    }
}
