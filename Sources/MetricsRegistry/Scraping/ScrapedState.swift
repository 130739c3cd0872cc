// SPDX-License-Identifier: Apache-2.0

/// The state of all series of a scrape, family by family; a `FamilyCapture` tells which part is whose.
struct ScrapedState: Sendable {
    var words = ScrapedWords()
    var exemplars = ScrapedExemplars()

    mutating func removeAll() {
        words.removeAll()
        exemplars.removeAll()
    }
}
