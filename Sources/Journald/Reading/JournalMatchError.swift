// SPDX-License-Identifier: Apache-2.0

/// Why texts are no condition for entries of the journal.
public enum JournalMatchError: Error, Hashable, CustomStringConvertible {
    /// A text has neither the form of a match nor is it `+`.
    case form(String)
    /// What stands in front of the `=` is no name of a field.
    case field(JournalFieldError)
    /// A `+` has no match in front of it or behind it.
    case alternative
    /// There are more than ``JournalMatch/maximumTexts``, or they have more than ``JournalMatch/maximumBytes``.
    case tooMuch

    /// What was expected, what was found and what to do.
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
