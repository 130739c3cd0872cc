// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("The simulation finds what is broken on purpose")
struct PlantedFaultTests {
    /// What the first of 1,000 seeds finds; nil where none does.
    private static func find(_ fault: PlantedFault) -> CollectorSimulation.Finding? {
        for seed in 0..<1_000 as Range<UInt64> {
            do throws(CollectorSimulation.Finding) {
                try CollectorSimulation(seed: seed, plant: fault).run()
            } catch {
                return error
            }
        }
        return nil
    }

    @Test("a fault that is planted in the collector is found within 1,000 seeds", arguments: PlantedFault.allCases)
    func planted(fault: PlantedFault) throws {
        let found = try #require(Self.find(fault), "\(fault) is not found")
        print("➜ \(fault): \("\(found)".prefix(200))")
    }

    @Test("a finding shrinks to a few steps that still find it")
    func shrinks() throws {
        let found = try #require(Self.find(.repeatedTakenAsNew))
        let shrunk = ShrunkSimulation(found, plant: .repeatedTakenAsNew)
        #expect(shrunk.steps.count <= 10, "\(shrunk)")
        #expect(throws: CollectorSimulation.Finding.self) {
            try CollectorSimulation(seed: found.seed, plant: .repeatedTakenAsNew).run(shrunk.steps)
        }
    }
}
