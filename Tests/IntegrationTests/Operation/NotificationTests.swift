// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("notifications to the service manager")
struct NotificationTests {
    @Test(
        "READY follows the recovery after a kill, with its progress, and the first request is answered"
    )
    func readyAfterRecovery() async throws {
        let manager = try NotifiedManager()
        try await withService { service in
            let client = await service.client
            var totals = LifecycleTotals()
            for number in 0..<30 {
                let batch = EventFactory(prefix: "tail-\(number)").cycles(0..<200)
                _ = try await client.post(batch.ndjson).receipt()
                totals += batch.totals
            }
            await service.kill()
            await service.run(under: manager)
            try await service.launch()
            try await eventually("READY comes") { manager.values("READY") == ["1"] }
            #expect(try await client.get("/-/ready").status == 200)
            #expect(try await client.metrics().lifecycle == totals.series)

            let messages = manager.messages
            let ready = try #require(messages.firstIndex { $0["READY"] == "1" })
            #expect(messages.first?["STATUS"] == "opening the ledger")
            #expect(messages.first?["EXTEND_TIMEOUT_USEC"] == "600000000")
            #expect(messages[ready - 1]["EXTEND_TIMEOUT_USEC"] == "120000000")
            #expect(messages[ready]["STATUS"] == "ready")
            let progress = messages[..<ready].compactMap { Self.progress($0) }
            #expect(!progress.isEmpty)
            #expect(progress.allSatisfy { (20...40).contains($0.total) && $0.done <= $0.total }, "\(progress)")
            #expect(progress.map(\.done) == progress.map(\.done).sorted())
        }
    }

    @Test("READY is sent once the line socket is answered too")
    func readyForLines() async throws {
        let manager = try NotifiedManager()
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"], under: manager) { service in
                try await eventually("READY comes") { manager.values("READY") == ["1"] }
                _ = try await LinesClient.sent(Array("foreign\n".utf8), to: path)
                #expect(await service.screen["lines"] == "unix:\(path)")
            }
        }
    }

    /// The progress in a message that extends the start timeout.
    private static func progress(_ message: NotifiedManager.Message) -> (done: Int, total: Int)? {
        guard message["EXTEND_TIMEOUT_USEC"] == "60000000" else { return nil }
        guard let match = message["STATUS"]?.wholeMatch(of: /recovering, ([0-9,]+) of ([0-9,]+) batches/) else {
            return nil
        }
        let numbers = [match.1, match.2].compactMap { Int($0.replacing(",", with: "")) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    @Test("the status line shows rates while the service runs, and at the end that it stops")
    func statusShowsRates() async throws {
        let manager = try NotifiedManager()
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace, under: manager) { service in
                let client = await service.client
                let stop = StopSignal()
                async let load = Sender(client: client, name: "rates", usesKeys: true).run(until: stop)
                let line = /([0-9,.]+) events\/s, [0-9,]+ waiting, journal [0-9,]+ behind/
                let rate = try await awaited("a status line with rates") {
                    manager.values("STATUS").compactMap { $0.wholeMatch(of: line)?.1 }.first
                }
                #expect(Double(rate.replacing(",", with: "")) ?? 0 >= 1)
                stop.set()
                _ = try await load
                #expect(try await service.terminate() == .code(0))
                try await eventually("STOPPING comes") { manager.values("STOPPING") == ["1"] }
                #expect(manager.values("STATUS").last == "stopping: draining requests and committing events")
                #expect(manager.values("READY") == ["1"])
                #expect(manager.values("WATCHDOG") == [], "nobody asked for it")
            }
        }
    }

    @Test("SIGHUP sends RELOADING with its time, then READY, and the status line shows the result")
    func reloadNotification() async throws {
        let manager = try NotifiedManager()
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/config.yml"
            func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
            try write("max-body: 1MiB\n")
            try await withService(options: ["--config", file], under: manager) { service in
                for (text, expected) in [
                    ("max-body: 2MiB\n", "reloaded: max-body"),
                    ("max-body: 2MiB\njournal: stdout\n", "reloaded, nothing changed"),
                    ("max-bodi: 2MiB\n", "not reloaded: "),
                ] {
                    manager.forget()
                    try write(text)
                    await service.signal(SIGHUP)
                    try await eventually("READY comes again") { manager.values("READY") == ["1"] }
                    let messages = manager.messages.filter { $0["WATCHDOG"] == nil }
                    #expect(messages.first?["RELOADING"] == "1")
                    let since = try #require(messages.first?["MONOTONIC_USEC"].flatMap { UInt64($0) })
                    let present = UInt64(ProcessInfo.processInfo.systemUptime * 1_000_000)
                    #expect((present - 60_000_000...present).contains(since))
                    #expect(messages.last?["STATUS"]?.hasPrefix(expected) == true, "\(messages)")
                }
            }
        }
    }

    @Test("a failed start reports its reason and is never ready")
    func failedStartNotification() async throws {
        let manager = try NotifiedManager()
        try await withService { service in
            let state = await service.settings.stateDirectory
            try await withTemporaryDirectory { directory in
                let second = Service(
                    Service.Settings(stateDirectory: state, manager: manager),
                    logs: directory
                )
                let process = try await second.launch()
                #expect(try await process.waitForExit() == .code(1))
                try await eventually("the reason comes") {
                    manager.values("STATUS").last?.hasPrefix("failed: the ledger in \(state) is in use by") == true
                }
            }
            #expect(manager.values("READY") == [])
        }
    }
}
