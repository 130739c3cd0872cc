// SPDX-License-Identifier: Apache-2.0

import EventLedger
import FleetSimulator
import SystemPrimitives

/// What a seed draws for all its steps: sizes, rates and which faults there are. Each is off for half of the seeds.
struct SimulationSwarm: Sendable {
    let durability: LedgerDurability
    let hasJournal: Bool
    let hasConsole: Bool
    let keepSeconds: Int64
    let groupSubmissions: Int
    let answeredEvents: Int
    let diskBytes: Int
    let diskFaults: DiskFaultRates
    let fleet: FleetPlan
    let mostLines: Int
    /// In 100 submissions.
    let lostAnswers: Int
    let repeats: Int
    let splits: Int
    let reorders: Int
    let keyless: Int
    let losesPower: Bool
    let leapsClock: Bool
    let waitsLong: Bool
    let journaldStoresBatches: Bool
    let weights: [(kind: SimulationStep.Kind, weight: Int)]
    var isVerbose = false

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func percent(_ most: Int) -> Int {
            Bool.random(using: &random) ? 0 : Int.random(in: 1...most, using: &random)
        }
        durability = Bool.random(using: &random) ? .power : .process
        hasJournal = Int.random(in: 0..<6, using: &random) > 0
        hasConsole = Bool.random(using: &random)
        keepSeconds = Bool.random(using: &random) ? 0 : 86_400
        groupSubmissions = [1, 3, 1_024].randomElement(using: &random) ?? 1
        diskBytes = [64 << 20, 1 << 30, 64 << 30].randomElement(using: &random) ?? 1 << 30
        diskFaults = DiskFaultRates(&random)
        var plan = FleetPlan(seed: random.next())
        plan.devices = Int.random(in: 1...3, using: &random)
        plan.days = Int.random(in: 2...3, using: &random)
        plan.scenarios = [.everyday, .everyday, .refreshEveryday].shuffled(using: &random)
        fleet = plan
        mostLines = [2, 6, 30].randomElement(using: &random) ?? 6
        lostAnswers = percent(30)
        repeats = percent(30)
        splits = percent(30)
        reorders = percent(50)
        keyless = percent(50)
        losesPower = Bool.random(using: &random)
        leapsClock = Bool.random(using: &random)
        waitsLong = Int.random(in: 0..<4, using: &random) == 0
        journaldStoresBatches = Int.random(in: 0..<5, using: &random) > 0
        weights = [
            (.submit, 30), (.turn, 30), (.deliver, 30), (.advance, 12), (.look, 3),
            (.kill, percent(6)), (.losePower, losesPower ? percent(6) : 0), (.stop, percent(2)),
            (.journald, percent(20)), (.leap, leapsClock ? 2 : 0), (.fill, percent(4)), (.wait, waitsLong ? 2 : 0),
        ]
        answeredEvents = [1, 5, 1_000].randomElement(using: &random) ?? 1
    }

    /// Whether what cycles were judged by must be the fleet's truth: all events came while their cycles were open.
    var comparesTruth: Bool { !waitsLong && diskBytes > 64 << 20 }

    func kind(using random: inout SplitMix64) -> SimulationStep.Kind {
        var left = Int.random(in: 0..<weights.reduce(0) { $0 + $1.weight }, using: &random)
        for (kind, weight) in weights {
            if left < weight { return kind }
            left -= weight
        }
        return .turn
    }
}

/// A step, which draws from a seed of its own: it does the same whichever steps are left out before it.
struct SimulationStep: Sendable {
    enum Kind: String, Sendable {
        case submit, turn, deliver, advance, look, kill, losePower, stop, journald, leap, fill, wait
    }

    let number: Int
    let kind: Kind
    let seed: UInt64

    static func all(of seed: UInt64, _ swarm: SimulationSwarm) -> [SimulationStep] {
        var random = SplitMix64(seed: ~seed)
        return (0..<Int.random(in: 100...300, using: &random)).map {
            SimulationStep(number: $0, kind: swarm.kind(using: &random), seed: random.next())
        }
    }
}

/// What a simulation did.
struct SimulationCounts: Equatable {
    var steps = 0
    var operations = 0
    var faults = 0
    var kills = 0
    var powerLosses = 0
    var tornWrites = 0
    var openings = 0
    var failedOpenings = 0
    var answers = 0
    var lost = 0

    static func += (left: inout Self, right: Self) {
        left.steps += right.steps
        left.operations += right.operations
        left.faults += right.faults
        left.kills += right.kills
        left.powerLosses += right.powerLosses
        left.tornWrites += right.tornWrites
        left.openings += right.openings
        left.failedOpenings += right.failedOpenings
        left.answers += right.answers
        left.lost += right.lost
    }
}
