// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LogValidation

@Suite("The page that maps the testing guide")
struct TestingGuidePageTests {
    static func text(_ path: String) throws -> String {
        try String(contentsOf: URL.repository.appendingPathComponent(path), encoding: .utf8)
    }

    static let rows: [[String]] = {
        let page = (try? text("docs/testing-guide.md")) ?? ""
        return page.split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| section") && !$0.hasPrefix("| -")
        }
        .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }()

    @Test("each section names a command or the plugin, and each command's options and names exist")
    func commands() throws {
        #expect(Self.rows.count > 40)
        let options = try Self.text("docs/log-validation.md")
        for row in Self.rows {
            try #require(row.count >= 2)
            let commands = row[1].matches(of: #/`([^`]+)`/#).map { String($0.1) }
            #expect(!commands.isEmpty || row[1].contains("*plugin*"), "\(row[0])")
            for command in commands {
                let words = command.split(separator: " ").map(String.init)
                let isRule = words.count == 1 && command.contains("_")
                #expect(isRule || ["validate", "replay", "report"].contains(words[0]), "\(command)")
                for option in words where option.hasPrefix("--") {
                    #expect(options.contains("| `\(option)` |"), "\(option)")
                }
                if let index = words.firstIndex(of: "--scenario") {
                    #expect(GuideScenario.named(words[index + 1]) != nil, "\(command)")
                }
                if let index = words.firstIndex(of: "--require") {
                    #expect(Requirement.list(words[index + 1]) != nil, "\(command)")
                }
            }
        }
    }

    @Test("each test that the page names exists")
    func tests() throws {
        let sources = try ["Tests/LogValidationTests", "Tests/RefreshLifecycleTests"].flatMap { folder in
            let root = URL.repository.appendingPathComponent(folder)
            let files = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
            return try files.map { try Self.text("\(folder)/\($0)") }
        }
        for row in Self.rows where row.count > 2 {
            for test in row[2].matches(of: #/`([^`]+)`/#).map({ String($0.1) }) {
                let parts = test.split(separator: ".").map(String.init)
                let source = sources.first { $0.contains("struct \(parts[0]) {") }
                #expect(source != nil, "\(test)")
                if parts.count == 2 { #expect(source?.contains("func \(parts[1])(") == true, "\(test)") }
            }
        }
    }

    @Test("the page has every scenario")
    func everyScenario() throws {
        let page = try Self.text("docs/testing-guide.md")
        for scenario in GuideScenario.all { #expect(page.contains("--scenario \(scenario.name)`"), "\(scenario.name)") }
    }
}
