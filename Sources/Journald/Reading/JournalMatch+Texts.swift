// SPDX-License-Identifier: Apache-2.0

extension JournalMatch {
    /// The most texts of a condition.
    public static let maximumTexts = 64
    /// The most bytes of all texts of a condition.
    public static let maximumBytes = 16 << 10

    /// The condition that some texts tell, as journalctl(1) takes them: `FIELD=VALUE` each, and `+` between alternatives.
    ///
    /// - Throws: ``JournalMatchError`` where they tell none.
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
