// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("The page on adding an app")
struct AddingAnAppPageTests {
    /// The folders that are the second app's own, whose files are not listed.
    static let ownFolders = ["RefreshLifecycle/", "TelemetryEvents/Refresh/", "LogValidation/Refresh/"]

    /// The files of Sources that the page lists, in its order.
    static func listed() throws -> [String] {
        let file = URL.repository.appendingPathComponent("docs/adding-an-app.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let heading = try #require(lines.firstIndex(of: "## Files that name the second app"))
        let section = lines[lines.index(after: heading)...].prefix { !$0.hasPrefix("## ") }
        return section.compactMap { $0.firstMatch(of: #/^\| `([^`]+)` \|/#).map { String($0.output.1) } }
    }

    /// The files of Sources that name the second app, without its own folders.
    static func naming() throws -> Set<String> {
        let sources = URL.repository.appendingPathComponent("Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { file in
            file.hasSuffix(".swift") && !ownFolders.contains { file.hasPrefix($0) }
        }
        return try Set(
            files.filter { namesTheApp(try String(contentsOf: sources.appendingPathComponent($0), encoding: .utf8)) }
        )
    }

    /// Whether code names the second app, and not only what the plugin has under a similar name: a condition and a task
    /// of the operating system.
    static func namesTheApp(_ code: String) -> Bool {
        // Few files have any of these, and searching all of them for the expressions would take seconds.
        guard ["aiq", "efresh", "RunVerdict", ".run(let "].contains(where: { code.contains($0) }) else { return false }
        let ofThePlugin = #/background[ _-]?(app[ -]?)?refresh|BGAppRefresh/#.ignoresCase()
        let name = #/[^A-Za-z](aiq|Refresh[A-Z]|refresh[A-Z_]|refresh\??\.[a-z]|RunVerdict)|[a-z]Refresh|\.run\(let /#
        return code.replacing(ofThePlugin, with: "").contains(name)
    }

    @Test("the page on adding an app lists each file of the sources that names the second app, once, and no other")
    func listsEachFile() throws {
        let listed = try Self.listed()
        let naming = try Self.naming()
        #expect(listed.count == Set(listed).count)
        #expect(naming.subtracting(listed).sorted() == [], "not listed")
        #expect(Set(listed).subtracting(naming).sorted() == [], "listed, and does not name the app")
    }

    @Test(
        "code that names the second app is told from code of the plugin and from other words",
        arguments: [
            ("if event.kind.app == .aiq {", true),
            (#"name: "aiq_background_refresh_runs_total","#, true),
            ("private var refresh: RefreshFold", true),
            ("case .refreshStarted:", true),
            ("guard !form.isOfRefresh else { return }", true),
            ("refresh?.set(projection.refresh, in: &update)", true),
            ("case .run(let verdict):", true),
            ("event.backgroundRefresh == false", false),
            (#"LogRule("BGAppRefreshTask scheduled")"#, false),
            ("/// Whether Background App Refresh was on.", false),
            ("files.refresh(siblings)", false),
            ("mutating func refresh(_ siblings: [Sibling]) {", false),
        ]
    )
    func tellsTheAppFromOtherWords(_ code: String, _ isOfTheApp: Bool) {
        #expect(Self.namesTheApp(" \(code)") == isOfTheApp)
    }
}
