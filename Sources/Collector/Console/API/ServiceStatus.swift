// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// What the console shows of the service itself.
struct ServiceStatus: Sendable {
    let live: LiveConfiguration
    let apps: Set<App>
    let readiness: Readiness
    /// Nil where no journal is written.
    let journal: DeliveryProgress?
    /// What goes to other systems.
    let exports: ExportPipeline
    let writer: GroupCommit<IngestProcessor>
    /// When the service began, in microseconds since 1970.
    let startedAt: Int64

    /// The journal's mode, and how far it is.
    ///
    /// - Parameter accepted: the number of the last event.
    func writeJournal(accepted: UInt64, to json: inout JSONWriter) {
        json.name("mode")
        json.value("\(live.current.journal)")
        guard let journal else { return }
        let (saved, since) = journal.waiting
        let pending = accepted - min(saved.position.sequence, accepted)
        json.name("confirmed")
        json.value(saved.position.sequence - min(saved.skipped, saved.position.sequence))
        json.name("skipped")
        json.value(saved.skipped)
        json.name("pending")
        json.value(pending)
        json.name("oldestSeconds")
        json.value(pending == 0 ? nil : since.map { journal.age(since: $0) / 1_000_000 })
    }
}

/// An account of docs/metrics.md that must balance: what is on its left equals what is on its right.
struct AccountBalance {
    let name: StaticString
    let left: UInt64
    let right: UInt64

    var isBalanced: Bool { left == right }

    static func all(_ accounts: IngestAccounts, _ counts: ConsoleCounts) -> [AccountBalance] {
        [
            AccountBalance(
                name: "received = accepted + duplicates + rejected",
                left: counts[.received],
                right: accounts.accepted &+ accounts.duplicates &+ counts[.rejected]
            ),
            AccountBalance(
                name: "accepted = sum of what accepted events did",
                left: accounts.accepted,
                right: accounts.effects.reduce(0, &+)
            ),
        ]
    }
}
