// SPDX-License-Identifier: Apache-2.0

/// A term of the condition that selects a reader's entries.
///
/// Values of one field are alternatives; different fields must all match (sd_journal_add_match(3)).
public enum JournalMatch: Hashable, Sendable {
    /// The field has this value.
    case equal(JournalField, [UInt8])
    /// The terms before and the terms after are alternatives.
    case or
    /// The terms before and the terms after must both match.
    case and

    /// The field has the UTF-8 of this text as its value.
    public static func equal(_ field: JournalField, _ value: String) -> JournalMatch {
        .equal(field, Array(value.utf8))
    }

    /// The maximum number of texts of a condition.
    public static let maximumTexts = 64
    /// The maximum size of all texts of a condition.
    public static let maximumBytes = 16 << 10

    /// Parses a condition in the syntax of journalctl(1): texts `FIELD=VALUE`, and `+` between alternatives.
    public static func condition(_ texts: [String]) throws(JournalMatchError) -> [JournalMatch] {
        guard texts.count <= maximumTexts, texts.reduce(0, { $0 + $1.utf8.count }) <= maximumBytes else {
            throw .tooMuch
        }
        var matches: [JournalMatch] = []
        for text in texts {
            if text == "+" {
                guard case .equal = matches.last else { throw .alternative }
                matches.append(.or)
            } else {
                matches.append(try match(text))
            }
        }
        if case .or = matches.last { throw .alternative }
        return matches
    }

    private static func match(_ text: String) throws(JournalMatchError) -> JournalMatch {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else { throw .form(text) }
        do throws(JournalFieldError) {
            return .equal(try JournalField(reading: String(text[..<sign])), String(text[text.index(after: sign)...]))
        } catch {
            throw .field(error)
        }
    }
}

/// Why texts are no valid condition.
public enum JournalMatchError: Error, Hashable, CustomStringConvertible {
    /// A text is neither `FIELD=VALUE` nor `+`.
    case form(String)
    /// The text before the `=` is no valid field name.
    case field(JournalFieldError)
    /// A `+` has no match before or after it.
    case alternative
    /// There are more than ``JournalMatch/maximumTexts`` or more than ``JournalMatch/maximumBytes``.
    case tooMuch

    /// The problem and what was expected.
    public var description: String {
        switch self {
        case .form(let text):
            "expected FIELD=VALUE such as SYSLOG_IDENTIFIER=app, or + between two of them, found \"\(text)\""
        case .field(let error): "\(error)"
        case .alternative: "expected a match in front of each + and one behind it, found none there"
        case .tooMuch:
            """
            expected at most \(JournalMatch.maximumTexts) matches of at most \(JournalMatch.maximumBytes) bytes \
            together, found more
            """
        }
    }
}
