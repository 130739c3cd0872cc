// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs the collector's own code on a disk, a clock, a journald and clients that a seed makes fail
/// (docs/reliability.md, "Under simulation").
///
/// `DNP_SIMULATIONS=0..<10000` chooses other seeds (CONTRIBUTING.md).
@Suite("The collector under simulation")
struct CollectorSimulationTests {
    private static let chosen: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["DNP_SIMULATIONS"] ?? ""
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : 0..<120
    }()

    /// Seeds that once failed, one a line; what follows it says why.
    private static let kept: [UInt64] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "seeds.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { UInt64($0.prefix { $0.isNumber }) }
    }()

    /// Runs a seed; what it finds is recorded with the fewest steps that find it.
    private static func run(_ seed: UInt64, _ total: inout SimulationCounts) {
        let simulation = CollectorSimulation(seed: seed, isVerbose: chosen.count == 1)
        do throws(CollectorSimulation.Finding) {
            try simulation.run()
        } catch {
            Issue.record("\(error)\n\(ShrunkSimulation(error))")
        }
        total += simulation.counts
    }

    @Test(
        "nothing acknowledged is lost or counts twice, no counter falls and the journal has each number once, at any crash"
    )
    func seeds() {
        var total = SimulationCounts()
        for seed in Self.chosen { Self.run(seed, &total) }
        print("➜ seeds \(Self.chosen): \(total)")
        #expect(total.kills > 0 && total.powerLosses > 0 && total.tornWrites > 0 && total.failedOpenings > 0)
    }

    @Test("seeds under which something once failed hold", arguments: kept)
    func keptSeeds(seed: UInt64) {
        var total = SimulationCounts()
        Self.run(seed, &total)
    }

    @Test("the same seed does the same twice")
    func sameTwice() throws {
        for seed in 0..<10 as Range<UInt64> {
            let runs = try (0..<2).map { _ in
                let simulation = CollectorSimulation(seed: seed)
                try simulation.run()
                return (simulation.trace, simulation.counts)
            }
            #expect(runs[0] == runs[1], "seed \(seed)")
        }
    }
}
