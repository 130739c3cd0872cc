// SPDX-License-Identifier: Apache-2.0

/// The fewest steps of a seed that were found to fail, by leaving out ever smaller parts of them.
struct ShrunkSimulation: CustomStringConvertible {
    /// So many runs are tried at most.
    private static let maximumRuns = 300

    private let all: Int
    private(set) var steps: [SimulationStep]
    private(set) var finding: CollectorSimulation.Finding

    init(_ finding: CollectorSimulation.Finding, plant: PlantedFault? = nil) {
        self.finding = finding
        let every = SimulationStep.all(of: finding.seed, SimulationSwarm(seed: finding.seed))
        all = every.count
        steps = every.filter { $0.number <= finding.step }
        var runs = 0
        var part = max(1, steps.count / 2)
        while runs < Self.maximumRuns {
            var start = 0
            while start < steps.count, runs < Self.maximumRuns {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + part, steps.count))
                runs += 1
                do throws(CollectorSimulation.Finding) {
                    try CollectorSimulation(seed: finding.seed, plant: plant).run(fewer)
                    start += part
                } catch {
                    (steps, self.finding) = (fewer, error)
                }
            }
            if part == 1 { break }
            part = max(1, part / 2)
        }
    }

    var description: String {
        "\(steps.count) of \(all) steps do: \(steps.map { "\($0.number) \($0.kind)" }.joined(separator: ", ")): \(finding.text)"
    }
}
