// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Every setting with the value that is in force and where it comes from, as a configuration file that says the same.
struct EffectiveSettings: Sendable {
    private struct Row: Sendable {
        var setting: Setting
        /// As they are written; nil for a setting without a value.
        var texts: [String]?
        /// Nil for a default.
        var origin: ConfigurationProblem.Origin?
    }

    private let rows: [Row]

    /// - Parameter reading: the file and the environment; a setting with a problem has its default.
    init(_ reading: SettingsReading) {
        rows = Settings.all.map { setting in
            if let texts = reading.texts[setting.name] {
                return Row(setting: setting, texts: texts, origin: reading.origin(of: setting.name))
            }
            let texts =
                switch setting.name {
                case "state-dir": reading.configuration.stateDirectory
                case "credentials-dir": reading.configuration.credentialsDirectory?.path ?? ""
                // Of the machine, or of each line.
                case "timezone", "input-format": ""
                default: setting.standard
                }
            return Row(setting: setting, texts: texts.isEmpty ? nil : [texts], origin: nil)
        }
    }

    /// A line for each setting, with its origin behind it; one without a value is a comment.
    var yaml: String {
        rows.map { row in
            let origin = row.origin.map { Self.plain("\($0)") } ?? "default"
            guard let texts = row.texts else {
                let standard = row.setting.standard
                return "#\(row.setting.name):  # \(standard.isEmpty ? "not set" : "default: \(standard)")\n"
            }
            let value =
                row.setting.form == .list ? "[\(texts.map(Self.word).joined(separator: ", "))]" : Self.word(texts[0])
            return "\(row.setting.name): \(value)  # \(origin)\n"
        }.joined()
    }

    /// `[{"name":...,"values":[...],"from":...}]`.
    func write(to text: inout JSONWriter) {
        text.array { text in
            for row in rows {
                text.object { text in
                    text.name("name")
                    text.value(row.setting.name)
                    text.name("values")
                    text.array { text in for value in row.texts ?? [] { text.value(value) } }
                    text.name("from")
                    text.value(row.origin.map { "\($0)" } ?? "default")
                }
            }
        }
    }

    /// `[{"name":...,"value":...,"source":...}]`, a list in one text.
    func writeValues(to text: inout JSONWriter) {
        text.array { text in
            for row in rows {
                text.object { text in
                    text.name("name")
                    text.value(row.setting.name)
                    text.name("value")
                    text.value(row.texts.map { $0.joined(separator: ", ") })
                    text.name("source")
                    text.value(row.origin.map { "\($0)" } ?? "default")
                }
            }
        }
    }

    /// A scalar, in the quotes of JSON, which YAML knows, where it could be read as something else.
    private static func word(_ text: String) -> String {
        let isPlain =
            text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            } && !text.isEmpty && !text.hasPrefix("-") && text.lowercased() != "null"
        guard !isPlain else { return text }
        var writer = JSONWriter()
        writer.value(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A place that stays within a comment.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 })
        )
    }
}
