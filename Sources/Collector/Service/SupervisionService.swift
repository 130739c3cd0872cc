// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import ServiceLifecycle
internal import Synchronization

/// Serves the manager's watchdog and the status line while the service runs, and says that it stops as soon as it is told
/// to.
///
/// It runs on the threads that requests run on: when those hang, the watchdog hears nothing either.
struct SupervisionService: Service {
    let supervisor: Supervisor
    let writer: GroupCommit<IngestProcessor>
    let journal: JournalProgress?

    func run() async throws {
        if supervisor.hasManager {
            try? await cancelWhenGracefulShutdown { try await watch() }
        } else {
            try? await gracefulShutdown()
        }
        supervisor.stopping()
    }

    private func watch() async throws {
        let clock = LedgerClock.system
        var watch = supervisor.watchdogTimeout.map {
            WriterWatch(timeout: $0, proofs: writer.statistics.proofs, at: clock.monotonic())
        }
        let proof = Proof()
        while !Task.isCancelled {
            let statistics = writer.statistics
            let now = clock.monotonic()
            supervisor.reads(reading(statistics, at: now))
            switch watch?.look(proofs: statistics.proofs, isAsked: proof.isAsked, at: now) ?? .wait {
            case .wait: break
            case .ping: supervisor.ping()
            case .askForProof: proof.ask(of: writer)
            }
            try await Task.sleep(for: .nanoseconds(watch?.pause ?? 1_000_000_000))
        }
    }

    private func reading(_ statistics: GroupCommitStatistics, at now: UInt64) -> ServiceReading {
        ServiceReading(
            time: now,
            events: statistics.events,
            refused: statistics.failedSubmissions + statistics.overloads + statistics.slowRefusals,
            waiting: statistics.waitingSubmissions,
            journalBehind: journal.map { progress in
                let confirmed = progress.latest
                let end = writer.ledger.position.sequence
                return end - min(confirmed, end)
            },
            trouble: statistics.failure
        )
    }
}

/// A proof that the writer is asked for, one at a time; a hung writer never answers.
private final class Proof: Sendable {
    private let asked = Atomic(false)

    var isAsked: Bool { asked.load(ordering: .relaxed) }

    func ask(of writer: GroupCommit<IngestProcessor>) {
        asked.store(true, ordering: .relaxed)
        Task {
            try? await writer.prove()
            asked.store(false, ordering: .relaxed)
        }
    }
}
