// SPDX-License-Identifier: Apache-2.0

/// The place of a file among the rotations of its log, by the names that logrotate, newsyslog and loggers give:
/// `app.log.1`, `app.log.2.gz`, `app.log-20251115`, `app.log.2025-11-15`, `app.log.old`, and beside `app.log` also
/// `app.1.log`, `app-20251115.log` and `app-2025-11-15.log`.
package struct LogRotation {
    /// The path of the log that is written to.
    package let log: String
    /// The older, the greater; 0 for the log itself.
    package let age: Int

    package init(log: String, age: Int) {
        self.log = log
        self.age = age
    }

    /// Nil for a file that is no rotation. `phone.1` and `phone.2` are two phones: where the log itself is not among the
    /// inputs, its name must have an extension.
    package init?(_ path: String, among paths: [String] = []) {
        let whole = path.hasSuffix(".gz") ? path.dropLast(3) : path[...]
        let start = whole.lastIndex(of: "/").map(whole.index(after:)) ?? whole.startIndex
        let (directory, name) = (String(whole[..<start]), whole[start...])
        if let (log, age) = Self.split(name) {
            guard paths.contains(directory + log) || log.dropFirst().contains(".") else { return nil }
            self.init(log: directory + log, age: age)
        } else if let dot = name.lastIndex(of: "."), let (base, age) = Self.split(name[..<dot]) {
            let log = directory + base + name[dot...]
            guard paths.contains(log) else { return nil }
            self.init(log: log, age: age)
        } else {
            return nil
        }
    }

    /// The name without the number or date at its end, and the age that they tell; nil without one.
    private static func split(_ name: Substring) -> (log: String, age: Int)? {
        if name.hasSuffix(".old"), name.count > 4 { return (String(name.dropLast(4)), 1) }
        let date = name.suffix(11)
        if date.count == 11, date.hasPrefix("-"), date.filter({ $0 == "-" }).count == 3,
            let age = number(date.dropFirst(), isDate: false)
        {
            return (String(name.dropLast(11)), age)
        }
        let mark = name.indices.last { index in
            name[index] == "." || name[index] == "-" && isDate(name[index...].dropFirst())
        }
        guard let mark, let age = number(name[mark...].dropFirst(), isDate: name[mark] == "-") else { return nil }
        return (String(name[..<mark]), age)
    }

    private static func isDate(_ text: Substring) -> Bool {
        (8...14).contains(text.count) && text.allSatisfy { $0.isASCII && $0.isWholeNumber }
    }

    /// The age from a number of up to three digits or a date.
    private static func number(_ text: Substring, isDate: Bool) -> Int? {
        let digits = text.filter { $0 != "-" }
        guard digits.allSatisfy({ $0.isASCII && $0.isWholeNumber }), let number = Int(digits) else { return nil }
        if digits.count == text.count, text.count <= 3, !isDate { return number }
        return Self.isDate(digits[...]) && (digits.count == text.count || text.count == 10) ? .max - number : nil
    }
}
