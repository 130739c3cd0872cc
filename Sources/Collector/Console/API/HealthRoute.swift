// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import Export
internal import Hummingbird
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

/// `GET /api/v1/health`: the ledger, the journal, the sources, the limits, and what was rejected.
struct HealthRoute: Sendable {
    let feed: ConsoleFeed
    let status: ServiceStatus

    func respond(to request: Request) async throws -> Response {
        guard let snapshot = feed.snapshot else { throw Problem.consoleStarting }
        let ledger = status.writer.ledger
        let statistics = try await ConsoleThreads.run { try ledger.reader.statistics() }
        var json = JSONWriter()
        json.object { json in
            json.name("version")
            json.value(BuildVersion.current)
            json.name("startedAt")
            json.value(Timestamp(microseconds: status.startedAt))
            json.name("ready")
            json.value(status.readiness.isReady)
            json.name("ledger")
            json.object { json in write(ledger, statistics, to: &json) }
            json.name("journal")
            json.object { json in status.writeJournal(accepted: snapshot.position.sequence, to: &json) }
            json.name("accounts")
            json.array { json in
                for account in AccountBalance.all(snapshot.accounts, snapshot.counts) { json.value(account) }
            }
            json.name("sources")
            json.array { json in writeSources(snapshot.accounts, to: &json) }
            json.name("limits")
            json.array { json in writeLimits(snapshot, to: &json) }
            json.name("exports")
            json.array { json in writeExports(accepted: snapshot.position.sequence, to: &json) }
            json.name("rejections")
            json.array { json in writeRejections(snapshot.accounts, to: &json) }
            json.name("warnings")
            json.array { json in
                for warning in warnings(snapshot, ledger) {
                    json.object { json in
                        json.name("title")
                        json.value(warning.title)
                        json.name("detail")
                        json.value(warning.detail)
                    }
                }
            }
            json.name("configuration")
            if let settings = status.live.current.settings {
                settings.writeValues(to: &json)
            } else {
                json.array { _ in }
            }
        }
        return APIAnswer.json(json, to: request)
    }

    private func write(_ ledger: EventLedger, _ statistics: LedgerStatistics, to json: inout JSONWriter) {
        json.name("id")
        json.value(ledger.id)
        json.name("createdAt")
        json.value(Timestamp(microseconds: ledger.createdAt))
        json.name("sequence")
        json.value(statistics.end.sequence)
        json.name("batches")
        json.value(statistics.batches)
        json.name("events")
        json.value(statistics.events)
        json.name("bytes")
        json.value(statistics.bytesOnDisk)
        json.name("availableBytes")
        json.value(statistics.availableBytes)
        json.name("roomBytes")
        json.value(ledger.room?.roomForEvents)
        json.name("durability")
        json.value("\(status.live.current.durability)")
        json.name("retentionSeconds")
        json.value(status.live.current.retentionSeconds)
    }

    private func writeSources(_ accounts: IngestAccounts, to json: inout JSONWriter) {
        for origin in EventOrigin.allCases {
            guard let received = accounts.received[origin.rawValue] else { continue }
            json.object { json in
                json.name("source")
                json.value(origin.source.name)
                json.name("format")
                json.value(origin.format.name)
                json.name("received")
                json.value(received)
            }
        }
    }

    private func writeLimits(_ snapshot: ConsoleFeed.Snapshot, to json: inout JSONWriter) {
        let rows: [(name: String, used: Int, limit: Int, unit: String)] = [
            ("open cycles", snapshot.openCycles, snapshot.openCycleLimit, "cycles"),
            ("remembered identities", snapshot.rememberedIdentities, snapshot.identityLimit, "identities"),
            ("cycles in the console", snapshot.cycles.count, snapshot.cycles.limit, "cycles"),
            ("live streams", feed.live.openStreams, LiveEvents.maximumStreams, "streams"),
        ]
        for row in rows {
            json.object { json in
                json.name("name")
                json.value(row.name)
                json.name("used")
                json.value(UInt64(row.used))
                json.name("limit")
                json.value(UInt64(row.limit))
                json.name("unit")
                json.value(row.unit)
            }
        }
    }

    private func writeExports(accepted: UInt64, to json: inout JSONWriter) {
        for stream in status.exports.health(accepted: accepted) {
            json.object { json in
                json.name("destination")
                json.value(stream.destination.name)
                json.name("signal")
                json.value(stream.destination.signal.rawValue)
                json.name("address")
                json.value("\(stream.destination.endpoint)")
                json.name("complaint")
                json.value(stream.complaint.map { PlainText.line($0) })
                json.name("pending")
                json.value(stream.pending.map { Int64(clamping: $0) })
            }
        }
    }

    private func writeRejections(_ accounts: IngestAccounts, to json: inout JSONWriter) {
        for reason in RejectionReason.allCases {
            let count = accounts.rejected[Int(reason.rawValue)]
            guard count > 0 else { continue }
            json.object { json in
                json.name("reason")
                json.value("\(reason.name)")
                json.name("count")
                json.value(count)
                json.name("todo")
                json.value(reason.advice)
            }
        }
    }

    /// Says that the journal takes nothing, where an event has waited for longer than a busy one lets it.
    ///
    /// - Parameter waiting: how long the oldest event has waited, in microseconds.
    static func warning(ofJournal waiting: Int64) -> (title: String, detail: String)? {
        guard waiting >= journalPatience else { return nil }
        return (
            "The journal takes no events",
            "The oldest has waited for \(waiting / 1_000_000) s. None is lost: all wait in the ledger. Look at "
                + "systemctl status systemd-journald."
        )
    }

    private static let journalPatience: Int64 = 30_000_000

    private func warnings(_ snapshot: ConsoleFeed.Snapshot, _ ledger: EventLedger) -> [(title: String, detail: String)]
    {
        var warnings: [(title: String, detail: String)] = []
        for account in AccountBalance.all(snapshot.accounts, snapshot.counts) where !account.isBalanced {
            warnings.append(
                (
                    "An account does not balance",
                    "\(account.name): \(account.left) and \(account.right). Run ledger verify."
                )
            )
        }
        if let room = ledger.room, room.isShort {
            warnings.append(
                (
                    "The disk is nearly full",
                    "Events may take \(room.roomForEvents) more bytes, then they are refused with 503."
                )
            )
        }
        if let waiting = status.journal?.waitingMicroseconds, let warning = Self.warning(ofJournal: waiting) {
            warnings.append(warning)
        }
        if !status.readiness.isReady { warnings.append(("The service is stopping", "It takes no new events.")) }
        return warnings
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ account: AccountBalance) {
        object { json in
            json.name("name")
            json.value("\(account.name)")
            json.name("left")
            json.value(account.left)
            json.name("right")
            json.value(account.right)
            json.name("balanced")
            json.value(account.isBalanced)
        }
    }
}

extension RejectionReason {
    /// What to do about events that are rejected for this reason.
    var advice: String {
        switch self {
        case .malformedJSON: "Send JSON as RFC 8259 has it; look for a cut or doubly quoted body."
        case .truncated: "The input ends within an event: look for a sender or proxy that cuts bodies or lines."
        case .notAnObject: "Send each event as an object."
        case .missingField: "Send the fields event and timestamp with each event, and those that its kind needs."
        case .unknownKind: "Use a kind that docs/events.md lists; update the collector before a newer plugin."
        case .wrongType: "Send each field with the type that docs/events.md gives."
        case .outOfRange:
            "A number or a time is outside what docs/events.md allows; look for seconds sent as milliseconds."
        case .invalidTimestamp: "Send times as RFC 3339 with a zone, such as 2026-11-22T06:53:00Z."
        case .timestampTooOld: "The event is older than the limit: look at the device's clock, or raise the limit."
        case .timestampInFuture: "The event lies ahead of the collector's clock: look at the clocks of both."
        case .invalidUTF8: "Send text as UTF-8."
        case .tooDeep: "Send flat objects."
        case .tooLong: "A text or a line is too long: look for binary data in the input."
        }
    }
}
