// SPDX-License-Identifier: Apache-2.0

extension JournalReader {
    /// Reads only entries that fulfil the given condition from now on, or all when it is empty.
    ///
    /// Seek afterwards: a new condition leaves no position.
    public func setMatches(_ matches: [JournalMatch]) throws(JournalReaderError) {
        self.matches = matches
        try apply(matches)
    }

    func apply(_ matches: [JournalMatch]) throws(JournalReaderError) {
        handle.clearMatches()
        for match in matches {
            switch match {
            case .equal(let field, let value): try handle.match(field.assignment + value)
            case .or: try handle.disjunction()
            case .and: try handle.conjunction()
            }
        }
    }
}
