// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Declared dependencies")
struct DeclaredImportsTests {
    /// Modules of the toolchain, which a target need not declare.
    static let toolchain: Set<String> = ["Foundation", "FoundationEssentials", "Glibc", "Synchronization"]

    @Test("EventLedger declares every module that it imports, so that none comes only through another dependency")
    func declaresEveryImport() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let start = try #require(manifest.range(of: #"\.target\(\s*name: "EventLedger""#, options: .regularExpression))
        let end = try #require(manifest.range(of: "swiftSettings", range: start.upperBound..<manifest.endIndex))
        let declaration = manifest[start.upperBound..<end.lowerBound]

        let sources = root.appendingPathComponent("Sources/EventLedger")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "import"), keyword <= 1, keyword + 1 < words.count,
                    keyword == 0 || ["internal", "public", "package"].contains(words[0])
                else { continue }
                let module = String(words[keyword + 1])
                #expect(
                    Self.toolchain.contains(module) || declaration.contains("\"\(module)\""),
                    "\(file) imports \(module)"
                )
            }
        }
    }
}
