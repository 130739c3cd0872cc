// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("ledger verify")
struct LedgerVerifyTests {
    @Test("ledger verify finds nothing after five kills and retries, beside the service and after its end")
    func ledgerVerifyAfterKills() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                let stop = StopSignal()
                async let first = Sender(client: client, name: "v-a", usesKeys: true, seed: 31).run(until: stop)
                async let second = Sender(client: client, name: "v-b", cycles: 1...5, seed: 32).run(until: stop)
                do {
                    for round in 1...5 {
                        let before = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                        try await eventually("200 more are accepted before kill \(round)") {
                            try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= before + 200
                        }
                        let beside = try await Command.ledger(service, "verify", "--format", "json")
                        #expect(try VerifyOutput(beside).failed == [])
                        await service.kill()
                        try await service.start()
                    }
                } catch {
                    stop.set()
                    throw error
                }
                stop.set()
                let delivery = try await first + second
                try await waitUntilJournaled(service)
                try await journal.rotate()
                try await expectSound(service, delivery, journaled: true)
                #expect(try await service.terminate() == .code(0))
                try await expectSound(service, delivery, journaled: true)
            }
        }
    }

    private func expectSound(_ service: Service, _ delivery: Delivery, journaled: Bool) async throws {
        let command = try await Command.ledger(service, "verify", "--format", "json")
        #expect(command.status == .code(0), "\(command.text)")
        let output = try VerifyOutput(command)
        #expect(output.verdict == "sound")
        #expect(output.checks.allSatisfy { $0.result == "ok" }, "\(command.text)")
        let accepted = output["sums"]?.figures["accepted"] ?? 0
        #expect(accepted >= UInt64(delivery.acknowledged.count))
        #expect(output["sums"]?.figures["pending"] == 0)
        #expect(output["journal"]?.figures["entries"] == accepted)
    }

    @Test("ledger verify reports a missing journal and finds nothing else wrong")
    func ledgerVerifyWithoutJournal() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            _ = try await service.client.post(EventFactory(prefix: "plain").cycles(0..<3).ndjson).receipt()
            let command = try await Command.ledger(service, "verify")
            #expect(command.status == .code(0))
            #expect(command.lines.last == "sound: 7 checks, 1 skipped")
            let quiet = try await Command.ledger(service, "verify", "--no-journal", "--quiet")
            #expect(quiet.text == "sound: 7 checks, 1 skipped\n")
        }
    }

    @Test("ledger verify fails for a changed byte of a batch and of the accounts")
    func ledgerVerifyChangedBytes() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            let state = await service.settings.stateDirectory
            for prefix in ["one", "two", "three"] {
                _ = try await client.post(EventFactory(prefix: prefix).cycles(0..<1).ndjson).receipt()
            }
            #expect(try await service.terminate() == .code(0))
            let sound = contents(of: "\(state)/ledger.sqlite")
            try await StateFile.flip(Data("two-0".utf8), in: state)
            let batch = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
            #expect(batch.status == .code(1))
            #expect(try VerifyOutput(batch).failed == ["batches"])
            #expect(try VerifyOutput(batch)["batches"]?.findings.first?.hasPrefix("batch 2: checksum") == true)

            try sound.write(to: URL(fileURLWithPath: "\(state)/ledger.sqlite"))
            // Accepted 12, duplicates 0, unknown fields 0, in eight bytes each, and 13 reasons.
            let accounts = [12, 0, 0, 13].map { [UInt8($0)] + [UInt8](repeating: 0, count: 7) }
            try await StateFile.flip(Data(accounts.joined()), in: state)
            let page = try await Command.ledger(service, "verify", "--no-journal")
            #expect(page.status == .code(1))
            #expect(page.text.contains("\n          the checksum of page accounts is wrong\n"))
            #expect(page.lines.last == "unsound: 2 of 8 checks failed, 1 skipped")
        }
    }

    @Test("ledger verify fails for a sequence number missing or repeated in the journal, not for vacuumed ones")
    func ledgerVerifyJournalNumbers() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let batch = EventFactory(prefix: "numbers").cycles(0..<3)
                _ = try await service.client.post(batch.ndjson).receipt()
                try await waitUntilJournaled(service)
                #expect(try await service.terminate() == .code(0))
                let verified = try await Command.ledger(service, "verify", "--format", "json")
                #expect(verified.status == .code(0), "\(verified.text)")
                let ledger = try VerifyOutput(verified).ledger
                let state = await service.settings.stateDirectory
                try await expectNumbers([1, 2, 3, 4, 5, 7, 8, 8, 9, 10, 11, 12], of: ledger, in: state) { command in
                    #expect(command.status == .code(1))
                    let check = try VerifyOutput(command)["journal"]
                    #expect(check?.findings == ["number 6 is missing", "number 8 is more than once"])
                }
                try await expectNumbers([5, 6, 7, 8, 9, 10, 11, 12], of: ledger, in: state) { command in
                    #expect(command.status == .code(0), "\(command.text)")
                }
                try await expectNumbers([1, 2, 3], of: ledger, in: state) { command in
                    let check = try VerifyOutput(command)["journal"]
                    #expect(check?.findings == ["numbers 4 to 12 are missing"])
                }
                try await expectNumbers([], of: ledger, in: state) { command in
                    let check = try VerifyOutput(command)["journal"]
                    #expect(command.status == .code(0))
                    #expect(check?.result == "skipped")
                }
            }
        }
    }

    /// Verifies against another journal with entries of just these sequence numbers.
    private func expectNumbers(
        _ numbers: [Int],
        of ledger: String,
        in state: String,
        _ body: (Command) throws -> Void
    ) async throws {
        try await TestJournald.with { journal in
            for number in numbers {
                let entry =
                    "MESSAGE=\(number)\nSYSLOG_IDENTIFIER=dnp-telemetry\nDNP_LEDGER=\(ledger)\nDNP_SEQ=\(number)\n"
                let logger = try await Command.run(
                    journal.namespace.entering(["/usr/bin/logger", "--journald"]),
                    input: entry
                )
                #expect(logger.status == .code(0), "\(logger.error)")
            }
            #expect(try await journal.entries().count == numbers.count)
            try body(
                try await journal.namespace.run([
                    Service.binary(), "ledger", "verify", "--format", "json", "--state-dir", state,
                ])
            )
        }
    }
}
