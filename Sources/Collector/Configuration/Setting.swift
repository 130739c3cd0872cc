// SPDX-License-Identifier: Apache-2.0

/// One setting of the service, under one name: `max-body` is the option `--max-body`, the variable
/// `DNP_TELEMETRY_MAX_BODY` and the key `max-body` of the configuration file.
package struct Setting: Sendable {
    /// How it is written.
    package enum Form: Hashable, Sendable {
        /// One value.
        case value
        /// Several values: the option repeated, a list in the file, commas in the environment.
        case list
        /// True or false; as an option `--name` and `--no-name`.
        case flag
    }

    /// The name, in words with dashes.
    package let name: String
    /// How its values are written.
    package let form: Form
    /// The placeholder of a value in the help.
    package let placeholder: String
    /// The default as it would be written; empty for an empty default, a description where it depends on the machine.
    package let standard: String
    /// Its meaning, one sentence.
    package let help: String
    /// Whether a reload changes it in the running service.
    package let isHotReloadable: Bool
    /// Whether values are paths: relative to the file in the file, else to the working directory.
    let isPath: Bool

    let apply: @Sendable ([String], inout ServeConfiguration) throws(SettingError) -> Void
    let isEqual: @Sendable (ServeConfiguration, ServeConfiguration) -> Bool
    let carry: @Sendable (_ from: ServeConfiguration, inout ServeConfiguration) -> Void

    /// The environment variable.
    package var variable: String {
        Self.variablePrefix + name.uppercased().replacing("-", with: "_")
    }

    /// The prefix of all variables.
    package static let variablePrefix = "DNP_TELEMETRY_"
}

extension Setting {
    typealias Place<Value> = any WritableKeyPath<ServeConfiguration, Value> & Sendable

    /// A setting of one value.
    static func value<Value: Equatable & Sendable>(
        _ name: String,
        _ place: Place<Value>,
        _ placeholder: String,
        standard: String,
        isHotReloadable: Bool = false,
        isPath: Bool = false,
        _ help: String,
        _ read: @escaping @Sendable (String) throws(SettingError) -> Value
    ) -> Setting {
        Setting(
            name: name,
            form: .value,
            placeholder: placeholder,
            standard: standard,
            help: help,
            isHotReloadable: isHotReloadable,
            isPath: isPath,
            apply: { texts, configuration throws(SettingError) in
                guard let text = texts.first, texts.count == 1 else {
                    throw SettingError("expected one value, found \(texts.count)")
                }
                configuration[keyPath: place] = try read(text)
            },
            isEqual: { $0[keyPath: place] == $1[keyPath: place] },
            carry: { $1[keyPath: place] = $0[keyPath: place] }
        )
    }

    /// A setting of several values, each once unless they may repeat.
    static func list<Value: Hashable & Sendable>(
        _ name: String,
        _ place: Place<[Value]>,
        _ placeholder: String,
        standard: String = "",
        isHotReloadable: Bool = false,
        isPath: Bool = false,
        mayRepeat: Bool = false,
        _ help: String,
        _ read: @escaping @Sendable (String) throws(SettingError) -> Value
    ) -> Setting {
        Setting(
            name: name,
            form: .list,
            placeholder: placeholder,
            standard: standard,
            help: help,
            isHotReloadable: isHotReloadable,
            isPath: isPath,
            apply: { texts, configuration throws(SettingError) in
                configuration[keyPath: place] = try Self.values(texts, mayRepeat: mayRepeat, read)
            },
            isEqual: { $0[keyPath: place] == $1[keyPath: place] },
            carry: { $1[keyPath: place] = $0[keyPath: place] }
        )
    }

    /// A setting that is true or false.
    static func flag(
        _ name: String,
        _ place: Place<Bool>,
        standard: Bool = false,
        _ help: String
    ) -> Setting {
        Setting(
            name: name,
            form: .flag,
            placeholder: "",
            standard: "\(standard)",
            help: help,
            isHotReloadable: false,
            isPath: false,
            apply: { texts, configuration throws(SettingError) in
                guard let text = texts.first, texts.count == 1 else {
                    throw SettingError("expected true or false, found \(texts.count) values")
                }
                configuration[keyPath: place] = try SettingText.flag(text)
            },
            isEqual: { $0[keyPath: place] == $1[keyPath: place] },
            carry: { $1[keyPath: place] = $0[keyPath: place] }
        )
    }

    /// A hot-reloadable setting of bytes.
    static func size(
        _ name: String,
        _ place: Place<Int>,
        standard: String,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> Setting {
        .value(name, place, "bytes", standard: standard, isHotReloadable: true, help) {
            (text) throws(SettingError) in
            try SettingText.size(text, range)
        }
    }

    /// A hot-reloadable setting of a whole number.
    static func count(
        _ name: String,
        _ place: Place<Int>,
        standard: String,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> Setting {
        .value(name, place, "count", standard: standard, isHotReloadable: true, help) {
            (text) throws(SettingError) in
            try SettingText.count(text, range)
        }
    }

    /// A hot-reloadable setting of a time from 10 ms to a day.
    static func time(
        _ name: String,
        _ place: Place<Duration>,
        standard: String,
        _ help: String
    ) -> Setting {
        .value(name, place, "time", standard: standard, isHotReloadable: true, help) {
            (text) throws(SettingError) in
            try SettingText.duration(text, .milliseconds(10) ... .seconds(86_400))
        }
    }

    /// The most values of a list.
    private static let maximumValues = 256

    /// Reads each text; duplicates are refused unless they may repeat.
    static func values<Value: Hashable>(
        _ texts: [String],
        mayRepeat: Bool = false,
        _ read: (String) throws(SettingError) -> Value
    ) throws(SettingError) -> [Value] {
        guard texts.count <= maximumValues else {
            throw SettingError("expected at most \(maximumValues) values, found \(texts.count)")
        }
        var values: [Value] = []
        for (index, text) in texts.enumerated() {
            do throws(SettingError) {
                let value = try read(text)
                guard mayRepeat || !values.contains(value) else {
                    throw SettingError("found \"\(text.prefix(200))\" twice")
                }
                values.append(value)
            } catch {
                var complaint = error
                complaint.index = index
                throw complaint
            }
        }
        return values
    }
}
