// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("Warnings of the health page")
struct HealthWarningTests {
    @Test("a journal that takes nothing for half a minute is warned of, and one that is behind by less is not")
    func silentJournal() throws {
        #expect(HealthRoute.warning(ofJournal: 0) == nil)
        #expect(HealthRoute.warning(ofJournal: 29_999_999) == nil)
        let warning = try #require(HealthRoute.warning(ofJournal: 43_500_000))
        #expect(warning.detail.hasPrefix("The oldest has waited for 43 s."))
    }
}
