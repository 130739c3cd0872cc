// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Collector

@Suite("The documented settings")
struct DocumentedSettingsTests {
    @Test("are those of the code, in their order, with default, reload and meaning")
    func table() throws {
        let root = URL.repository
        let readme = try Files.read(root.appendingPathComponent("docs/configuration.md").path)
        let rows = String(decoding: readme, as: UTF8.self).split(separator: "\n").drop { $0 != "## Settings" }
            .drop { !$0.hasPrefix("| setting |") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        let expected = Settings.all.map { setting in
            let standard = setting.standard.isEmpty ? "" : "`\(setting.standard)`"
            return "| `\(setting.name)` | \(standard) | \(setting.help) | \(setting.isHotReloadable ? "yes" : "") |"
        }
        #expect(rows.map(String.init) == expected, "\n\(expected.joined(separator: "\n"))")
    }

    @Test("have names that make an option, a variable and a key")
    func names() {
        for setting in Settings.all {
            #expect(setting.name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(setting.name)")
            #expect(setting.help.hasSuffix(".") && !setting.help.contains("|"), "\(setting.name)")
        }
        #expect(Set(Settings.all.map(\.variable)).count == Settings.all.count)
    }
}
