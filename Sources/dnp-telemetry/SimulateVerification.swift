// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CollectorClient
import FleetSimulator
import Foundation
import LedgerTools
import LogInput
import TextOutput

/// What a simulated fleet is compared with.
struct VerifyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Compare a collector's page with the truth: http://host:port or unix:/path/of/socket; /metrics where no path is named. With --truth FILE that exists, with what is in it.",
            valueName: "url"
        )
    )
    var verify: String?

    @Option(
        help: ArgumentHelp(
            "Compare the counters that a collector's ledger is rebuilt to with the truth, as ledger rebuild does: its state directory, on this machine.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var verifyLedger: String?

    @Option(
        help: ArgumentHelp(
            "How long --verify waits for what is on its way, and for cycles to close: 20m for all of them. By default it waits for neither, and 10 s behind --to for what is on its way.",
            valueName: "duration"
        )
    )
    var verifyWithin: TimeSpan?

    func validate() throws {
        guard verifyWithin == nil || verify != nil else {
            throw ValidationError("expected --verify with --verify-within")
        }
    }

    /// Whether anything is compared.
    var isAsked: Bool { verify != nil || verifyLedger != nil }

    /// - Throws: `ValidationError` for an address or a secret that is none.
    func pageFetch(_ access: CollectorAccess) throws -> PageFetch {
        do throws(InvalidOption) {
            return try PageFetch(
                CollectorURL(verify ?? "", path: PageFetch.path),
                access,
                timeout: .seconds(30)
            )
        } catch {
            throw ValidationError("--verify: \(error)")
        }
    }
}

/// Holds a collector's page against the truth of a fleet.
struct FleetVerification {
    private static let pause = Duration.milliseconds(200)

    let seed: UInt64
    /// The value of each series that is not 0.
    let series: [String: Int64]
    let quiet: Bool

    init(of fleet: FleetTruth, seed: UInt64, quiet: Bool) {
        let series = fleet.series.filter { $0.value != 0 }.map { ($0.name, $0.value) }
        (self.seed, self.series, self.quiet) = (seed, Dictionary(uniqueKeysWithValues: series), quiet)
    }

    /// Reads a file of `--truth`.
    ///
    /// - Parameter seed: the seed that it must have.
    /// - Throws: `ExitCode(2)` after printing the problem.
    init(truth path: String, seed: UInt64?, quiet: Bool) throws {
        struct Told: Decodable {
            var seed: UInt64
            var series: [String: Int64]
        }
        guard let bytes = FileManager.default.contents(atPath: path),
            let told = try? JSONDecoder().decode(Told.self, from: bytes)
        else {
            Terminal.say("Error: \(PlainText.line(path)): expected a file of simulate --truth")
            throw ExitCode(2)
        }
        if let seed, seed != told.seed {
            Terminal.say("Error: \(PlainText.line(path)) is the truth of seed \(told.seed), not of seed \(seed)")
            throw ExitCode(2)
        }
        (self.seed, series, self.quiet) = (told.seed, told.series, quiet)
    }

    /// Compares a page, and prints the result.
    ///
    /// - Parameters:
    ///   - arrival: how long what is on its way may take.
    ///   - closing: how long cycles may take to close; nil where nobody waits for that.
    /// - Throws: `ExitCode` for a page that differs or cannot be fetched.
    func compare(_ fetch: PageFetch, arrival: Duration, closing: Duration?) async throws {
        let start = ContinuousClock.now
        while true {
            let comparison = PageComparison(try await page(fetch), series)
            let elapsed = ContinuousClock.now - start
            switch comparison.verdict {
            case .behind where elapsed < arrival: break
            case .open where elapsed < closing ?? .zero: break
            default: return try print(comparison, of: "", isClosing: closing != nil)
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    private func page(_ fetch: PageFetch) async throws -> String {
        do throws(PageFetch.Problem) {
            return try await fetch.page()
        } catch {
            throw failure(error.description)
        }
    }

    /// Compares what a ledger is rebuilt to, and prints the result.
    ///
    /// - Throws: `ExitCode` for counters that differ, or a ledger that cannot be read.
    func compare(ledgerIn directory: String) throws {
        let samples: [String: String]
        do throws(UnreadableLedger) {
            samples = try LedgerRebuild(stateDirectory: directory).samples()
        } catch {
            throw failure("\(error)")
        }
        let page = samples.map { "\($0) \($1)" }.joined(separator: "\n")
        try print(PageComparison(page, series), of: "the ledger: ", isClosing: false)
    }

    private func failure(_ problem: String) -> ExitCode {
        Terminal.say("Error: seed \(seed): \(PlainText.line(problem))")
        return ExitCode(2)
    }

    private func print(_ comparison: PageComparison, of what: String, isClosing: Bool) throws {
        switch comparison.verdict {
        case .behind(let words), .different(let words):
            try Terminal.print("different, seed \(seed): \(what)\(words)\n")
            throw ExitCode(1)
        case .open(let cycles) where isClosing:
            try Terminal.print("different, seed \(seed): \(what)\(cycles) cycles and runs are still open\n")
            throw ExitCode(1)
        case .open(let cycles):
            try Terminal.print("equal: \(what)\(comparison.compared) series\n")
            guard !quiet else { return }
            Terminal.say("\(cycles) cycles and runs are open; outcomes and rules are compared once they are closed")
        case .equal: try Terminal.print("equal: \(what)\(comparison.compared) series\n")
        }
    }
}
