// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import LedgerState
import Synchronization
import SystemPrimitives

@testable import Collector
@testable import EventLedger

/// A collector of one seed, from its first start on a blank disk until all has settled.
final class CollectorSimulation {
    /// What did not hold, and in which step.
    struct Finding: Error, CustomStringConvertible {
        let seed: UInt64
        let step: Int
        let text: String

        var description: String { "reproduce with seed \(seed) step \(step): \(text)" }
    }

    private let seed: UInt64
    private let swarm: SimulationSwarm
    private let plant: PlantedFault?
    private let disk: SimulatedDisk
    private let clock: SimulatedClock
    private let oracle: CollectorOracle
    private var collector: SimulatedCollector?
    private var journald = SimulatedJournald()
    private var random = SplitMix64(seed: 0)
    private(set) var counts = SimulationCounts()

    /// The batches that clients have to send, those that wait for an answer, and those that were taken.
    private var waiting: [Int]
    private var sent: Set<Int> = []
    private var done: [Int] = []
    private let answers = Answers()
    /// Whether faults are over.
    private var isSettling = false
    /// Whether a process began while the clock was set wrong, and may have believed it.
    private var beganInLeap = false

    /// Answers as they are given; those that a process gives once it is gone reach no one.
    private final class Answers: Sendable {
        private let given = Mutex<[(batch: Int, result: Result<IngestOutcome, SubmissionError>)]>([])

        func give(_ batch: Int, _ result: Result<IngestOutcome, SubmissionError>) {
            given.withLock { $0.append((batch, result)) }
        }

        func take() -> [(batch: Int, result: Result<IngestOutcome, SubmissionError>)] {
            given.withLock { given in
                defer { given = [] }
                return given
            }
        }
    }

    init(seed: UInt64, plant: PlantedFault? = nil, isVerbose: Bool = false) {
        self.seed = seed
        self.plant = plant
        var swarm = SimulationSwarm(seed: seed)
        swarm.isVerbose = isVerbose
        self.swarm = swarm
        var random = SplitMix64(seed: seed ^ 0xF1EE7)
        let fleet = SimulatedFleet(swarm.fleet, mostLines: swarm.mostLines, random: &random)
        disk = SimulatedDisk(totalBytes: swarm.diskBytes)
        disk.plant = plant
        clock = SimulatedClock(start: fleet.start)
        let oracle = CollectorOracle(fleet, durability: swarm.durability)
        self.oracle = oracle
        waiting = Array(fleet.batches.indices)
        journald.storesBatches = swarm.journaldStoresBatches
        disk.onSync = { oracle.synchronized($0) }
    }

    /// The hash of all that happened.
    var trace: TraceHash { disk.trace }

    /// Runs some of the seed's steps, all by default, and lets everything settle.
    func run(_ steps: [SimulationStep]? = nil) throws(Finding) {
        defer {
            collector = nil
            disk.detach()
            counts.operations = disk.counts.operations
            counts.faults = disk.counts.faults
            counts.tornWrites = disk.counts.tornWrites
        }
        let steps = steps ?? SimulationStep.all(of: seed, swarm)
        begin(seed: seed)
        try reopen(after: .clean, step: -1)
        for step in steps {
            begin(seed: step.seed)
            disk.rates = swarm.diskFaults
            counts.steps += 1
            disk.trace.mix(0x57E9, UInt64(step.number))
            try take(step)
            try check(step.number)
        }
        begin(seed: ~seed)
        try settle(step: (steps.last?.number ?? -1) + 1)
    }

    private func begin(seed: UInt64) {
        random = SplitMix64(seed: seed)
        disk.random = SplitMix64(seed: seed ^ 0xD15C)
    }

    private func check(_ step: Int) throws(Finding) {
        if let text = oracle.finding { throw Finding(seed: seed, step: step, text: text) }
    }

    private func take(_ step: SimulationStep) throws(Finding) {
        switch step.kind {
        case .submit: for _ in 0..<Int.random(in: 1...4, using: &random) { submit() }
        case .turn: for _ in 0..<Int.random(in: 1...3, using: &random) { turn() }
        case .deliver: deliver(Int.random(in: 1...12, using: &random))
        case .advance: clock.advance(nanoseconds: UInt64.random(in: 0...400_000_000, using: &random))
        case .look: if let collector { oracle.look(at: collector) }
        case .kill: try crash(losesPower: false, step: step.number)
        case .losePower: try crash(losesPower: true, step: step.number)
        case .stop: try stop(step: step.number)
        case .journald:
            if let fault = SimulatedJournald.Fault.allCases.randomElement(using: &random) {
                journald.suffer(fault, using: &random)
            }
        case .leap:
            // More than a day apart: what passes within a day while the service is down is believed.
            let days = [-6, -4, -2, 0, 0, 0, 2, 4, 6].randomElement(using: &random) ?? 0
            clock.set(leap: Int64(days) * 86_400_000_000)
        case .fill:
            let isFull = Bool.random(using: &random)
            disk.fillerBytes =
                isFull ? max(0, disk.totalBytes - disk.usedBytes - Int.random(in: 0...1 << 20, using: &random)) : 0
        case .wait: clock.advance(nanoseconds: UInt64.random(in: 0...40 * 3_600, using: &random) * 1_000_000_000)
        }
        // A step in which the disk went down for good is a crash of its own.
        if disk.isDown { try crash(losesPower: false, step: step.number) }
    }

    // MARK: Clients

    private func chance(_ percent: Int) -> Bool { percent > 0 && Int.random(in: 0..<100, using: &random) < percent }

    private func submit() {
        guard let collector else { return }
        let number: Int
        if !isSettling, chance(swarm.repeats), let again = done.randomElement(using: &random) {
            number = again
        } else {
            guard !waiting.isEmpty else { return }
            number = waiting.remove(at: chance(swarm.reorders) ? Int.random(in: waiting.indices, using: &random) : 0)
        }
        let batch = oracle.fleet.batches[number]
        let (answers, disk) = (answers, disk)
        let isAdmitted = collector.submit(batch.submission(withKey: !chance(swarm.keyless))) { result in
            if !disk.isDown { answers.give(number, result) }
        }
        guard isAdmitted else {
            if !done.contains(number) { waiting.insert(number, at: 0) }
            return
        }
        sent.insert(number)
    }

    private func turn() {
        clock.advance(nanoseconds: 1_000_000)
        collector?.turn()
        takeAnswers()
    }

    private func takeAnswers() {
        for (number, result) in answers.take() {
            counts.answers += 1
            sent.remove(number)
            let batch = oracle.fleet.batches[number]
            guard case .success(let outcome) = result else {
                disk.trace.mix(0xA1, UInt64(number))
                guard !done.contains(number), !waiting.contains(number) else { continue }
                waiting.insert(number, at: 0)
                if batch.lines.count > 1, chance(swarm.splits) {
                    waiting.append(oracle.split(number, at: Int.random(in: 1..<batch.lines.count, using: &random)))
                }
                continue
            }
            disk.trace.mix(0xA0, UInt64(number))
            oracle.answered(batch, outcome)
            if done.contains(number) || waiting.contains(number) { continue }
            if chance(swarm.lostAnswers) { waiting.append(number) } else { done.append(number) }
        }
    }

    private func deliver(_ turns: Int) {
        journald.take(datagrams: Int.random(in: 0...3, using: &random))
        collector?.deliver(&journald, turns: turns)
        journald.take(datagrams: Int.random(in: 0...3, using: &random))
        disk.trace.mix(0x30, UInt64(journald.journal.count))
    }

    // MARK: Crashes and restarts

    /// Ends the process, or the machine, after a few operations of the disk more, wherever they are.
    private func crash(losesPower: Bool, step: Int) throws(Finding) {
        if !disk.isDown {
            disk.operationsUntilCrash = Int.random(in: 0...60, using: &random)
            for _ in 0..<4 where !disk.isDown {
                submit()
                turn()
                if !disk.isDown { deliver(4) }
                clock.advance(nanoseconds: 300_000_000)
            }
        }
        takeAnswers()
        disk.goDown()
        if losesPower { counts.powerLosses += 1 } else { counts.kills += 1 }
        try reopen(after: losesPower ? .powerLost : .killed, step: step)
    }

    private func stop(step: Int) throws(Finding) {
        var ending = CollectorOracle.Ending.clean
        do { try collector?.stop() } catch { ending = .killed }
        takeAnswers()
        try reopen(after: ending, step: step)
    }

    /// Starts a process on what the disk has kept, again and again until one runs, as systemd does.
    private func reopen(after ending: CollectorOracle.Ending, step: Int) throws(Finding) {
        let faults = step < 0 || disk.rates.isNone ? DiskFaultRates.none : swarm.diskFaults
        var ending = ending
        collector = nil
        oracle.ended()
        if clock.leap != 0 { beganInLeap = true }
        for number in sent.sorted() where !done.contains(number) && !waiting.contains(number) { waiting.append(number) }
        sent = []
        if ending == .powerLost { journald.reboot() }
        disk.restart(losesPower: ending == .powerLost)
        for attempt in 0..<40 {
            plantDamage()
            disk.rates = attempt < 10 ? faults : .none
            if attempt < 4, !faults.isNone || swarm.losesPower, chance(25) {
                disk.operationsUntilCrash = Int.random(in: 0...300, using: &random)
            }
            counts.openings += 1
            do {
                let opened = try SimulatedCollector(disk, clock, swarm, oracle, plant: plant, random: &random)
                disk.operationsUntilCrash = nil
                if !disk.isDown {
                    if case .setAside = opened.opening {
                        throw Finding(seed: seed, step: step, text: opened.opening.description)
                    }
                    collector = opened
                    disk.rates = .none
                    oracle.reopened(opened, after: ending, journal: journald.journal)
                    disk.rates = faults
                    try check(step)
                    return
                }
            } catch let finding as Finding {
                throw finding
            } catch {
                disk.trace.mix(0x0E)
                if !disk.isDown, disk.rates.isNone, disk.fillerBytes == 0 {
                    throw Finding(seed: seed, step: step, text: "a start fails on a sound disk: \(error)")
                }
            }
            counts.failedOpenings += 1
            let cuts = swarm.losesPower && disk.isDown && Bool.random(using: &random)
            if cuts { ending = .powerLost }
            if attempt > 20 { disk.fillerBytes = 0 }
            disk.restart(losesPower: cuts)
        }
        throw Finding(seed: seed, step: step, text: "no start succeeds")
    }

    /// Damages what the disk holds as a faulty collector would have left it.
    private func plantDamage() {
        let statements: [String]
        switch plant {
        case .checkpointHalfWritten:
            statements = ["DELETE FROM state WHERE projection = 'lifecycle' AND rowid % 2 = 0"]
        case .positionAheadOfState:
            statements = [
                """
                UPDATE position SET batch = batch + 1, sequence = sequence +
                    (SELECT count FROM batch WHERE id = position.batch + 1)
                    WHERE projection = 'lifecycle' AND EXISTS (SELECT 1 FROM batch WHERE id = position.batch + 1)
                """
            ]
        case .identitiesLost:
            statements = ["DELETE FROM state WHERE cast(key AS TEXT) LIKE 'fold/identities/%'"]
        case .accountsLost: statements = ["DELETE FROM state WHERE cast(key AS TEXT) = 'accounts'"]
        case .markLost:
            if disk.file(disk.directory + "/ledger.mark") != nil { disk.removeName(disk.directory + "/ledger.mark") }
            return
        default: return
        }
        disk.rates = .none
        let files = LedgerFiles(directory: disk.directory, disk: disk)
        guard disk.file(files.database) != nil else { return }
        try? LedgerConnection(path: files.databaseName, readOnly: false, setUp: statements).close()
    }

    // MARK: Settling

    /// Heals the disk, the clock and journald: in a bounded time everything must be sent, stored, journaled and judged.
    private func settle(step: Int) throws(Finding) {
        isSettling = true
        disk.rates = .none
        disk.fillerBytes = 0
        disk.operationsUntilCrash = nil
        clock.set(leap: 0)
        journald.heal()
        var rounds = 0
        while !(waiting.isEmpty && sent.isEmpty && (collector?.isDelivered ?? false)) {
            guard rounds < 4_000 else {
                throw Finding(
                    seed: seed,
                    step: step,
                    text: "nothing settles: \(waiting.count) batches wait, \(sent.count) are sent, the journal has "
                        + "\(String(describing: collector?.progress?.saved.position))"
                )
            }
            rounds += 1
            if sent.count < 8 { for _ in 0..<4 { submit() } }
            turn()
            deliver(4)
            clock.advance(nanoseconds: 30_000_000)
            try check(step)
        }
        try close(step: step)
        if let collector { oracle.look(at: collector) }
        try stop(step: step)
        if let collector {
            let comparesTruth = swarm.comparesTruth && !beganInLeap
            oracle.settled(collector, journal: journald.journal, comparesTruth: comparesTruth)
        }
        try check(step)
        counts.lost += oracle.hasLost ? 1 : 0
    }

    /// Lets the time pass in which all cycles close, and what was judged reach the journal.
    private func close(step: Int) throws(Finding) {
        for _ in 0..<72 {
            clock.advance(nanoseconds: 3_600_000_000_000)
            for _ in 0..<3 { turn() }
            try check(step)
        }
        for _ in 0..<2_000 where !(collector?.isDelivered ?? true) {
            turn()
            deliver(4)
            clock.advance(nanoseconds: 30_000_000)
        }
        if let collector, !collector.isDelivered {
            oracle.fail(
                "the journal does not get the verdicts: it has \(String(describing: collector.progress?.saved))"
            )
        }
        try check(step)
    }
}
