// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

extension InPairs {
    @Suite("the watchdog")
    struct WatchdogTests {
        @Test("the watchdog is pinged at rest and under load, and not by a stopped service")
        func watchdogPings() async throws {
            let manager = try NotifiedManager(watchdog: .seconds(2))
            try await withService(under: manager) { service in
                try await eventually("three pings at rest") { manager.values("WATCHDOG").count >= 3 }
                let stop = StopSignal()
                async let load = Sender(client: await service.client, name: "watch").run(until: stop)
                manager.forget()
                try await eventually("three pings under load") { manager.values("WATCHDOG").count >= 3 }
                stop.set()
                _ = try await load
                #expect(!manager.isWatchdogOverdue)

                await service.signal(SIGSTOP)
                try await eventually("the manager would restart it") { manager.isWatchdogOverdue }
                manager.forget()
                await service.signal(SIGCONT)
                try await eventually("it pings again") { manager.values("WATCHDOG").count >= 2 }
            }
        }

        @Test(
            "with a hung disk watchdog pings stop, new events are refused at once, and all that was acknowledged is kept"
        )
        func watchdogHungDisk() async throws {
            let manager = try NotifiedManager(watchdog: .seconds(2))
            try await MountNamespace.with { namespace in
                var disk: FreezableDisk?
                try await withService(
                    in: namespace,
                    under: manager,
                    prepare: { disk = try await FreezableDisk(at: $0, in: namespace) }
                ) { service in
                    let disk = try #require(disk)
                    try await eventually("a ping") { manager.values("WATCHDOG").count >= 1 }
                    try await disk.freeze()
                    do {
                        try await hang(service, manager)
                    } catch {
                        try await disk.thaw()
                        throw error
                    }
                    manager.forget()
                    try await disk.thaw()
                    try await eventually("it pings again") { manager.values("WATCHDOG").count >= 2 }
                    try await recover(service)
                }
            }
        }

        private static let before = EventFactory(prefix: "before").cycles(0..<50)

        private func hang(_ service: Service, _ manager: NotifiedManager) async throws {
            let client = await service.client
            // Its answer comes when the disk does, if it is waited for.
            let waiting = Task { try await client.post(Self.before.ndjson, key: "before") }
            try await eventually("the manager would restart it") { manager.isWatchdogOverdue }
            let refusal = try await awaited("new events are refused at once") {
                let answer = try? await client.post(Self.before.ndjson, key: "before", within: .seconds(1))
                return answer?.status == 503 ? answer : nil
            }
            #expect(try refusal.problem().type == "urn:dnp-telemetry:problem:ledger-slow")
            #expect((1...60).contains(refusal.headers["retry-after"].flatMap { Int($0) } ?? 0))
            let unread = try await client.post(Array("no gzip".utf8), encoding: "gzip")
            #expect(unread.status == 503, "it was decoded for nothing")
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_ledger_refused_total", ["reason": "commit_time"]) ?? 0 >= 1)
            #expect(page.sum("dnp_telemetry_ledger_busy_seconds") > 4)
            #expect(try await client.get("/-/healthy").status == 200)
            waiting.cancel()
        }

        private func recover(_ service: Service) async throws {
            let client = await service.client
            try await eventually("it takes events again") {
                try await client.post(Self.before.ndjson, key: "before").status == 200
            }
            #expect(try await client.metrics().lifecycle == Self.before.totals.series)
            await service.kill()
            try await service.start()
            #expect(try await client.metrics().lifecycle == Self.before.totals.series)
        }

        @Test("the watchdog is pinged while another program locks the ledger, because a restart would not help")
        func watchdogLockedLedger() async throws {
            try MissingDependency.require(executable: "/usr/bin/sqlite3", package: "sqlite3")
            let manager = try NotifiedManager(watchdog: .seconds(30))
            try await withService(under: manager) { service in
                let path = await service.settings.stateDirectory + "/ledger.sqlite"
                let lock = try ChildProcess(
                    [
                        "/usr/bin/sqlite3", "-cmd", ".timeout 30000", path, "BEGIN IMMEDIATE",
                        ".shell echo held; cat > /dev/null",
                    ],
                    logs: FileManager.default.temporaryDirectory.path,
                    name: "lock-\(UUID().uuidString)"
                )
                try await eventually("the lock is held") { !lock.output.isEmpty }
                manager.forget()
                let batch = EventFactory(prefix: "locked").cycles(0..<5)
                let answer = try await service.client.post(batch.ndjson)
                #expect(answer.status == 503)
                try await eventually("it pings") { manager.values("WATCHDOG").count >= 1 }
                try await lock.closeInput()
                try await lock.waitForExit()
                try await eventually("it takes events again") {
                    try await service.client.post(batch.ndjson).status == 200
                }
            }
        }
    }
}

/// A small ext4 in a file, whose writers hang while it is frozen, as on a disk that does not respond.
struct FreezableDisk: Sendable {
    private let namespace: MountNamespace
    private let directory: String

    /// Mounts it at a directory until the namespace ends.
    init(at directory: String, in namespace: MountNamespace) async throws {
        for (program, package) in [
            ("/usr/sbin/fsfreeze", "util-linux"), ("/usr/sbin/losetup", "mount"), ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
        ] {
            try MissingDependency.require(executable: program, package: package)
        }
        guard FileManager.default.fileExists(atPath: "/dev/loop-control") else {
            throw MissingDependency(
                description: "The integration tests need /dev/loop-control, for a disk that hangs: "
                    + "load the module (modprobe loop), or give the container the devices of the machine's /dev."
            )
        }
        self.namespace = namespace
        self.directory = directory
        try await run("truncate -s 64m '\(directory).image' && mkfs.ext4 -q '\(directory).image'")
        try await run("mount -o loop '\(directory).image' '\(directory)'")
    }

    func freeze() async throws {
        try await run("fsfreeze --freeze '\(directory)'")
    }

    func thaw() async throws {
        try await run("fsfreeze --unfreeze '\(directory)'")
    }

    private func run(_ script: String) async throws {
        let command = try await namespace.run(["/bin/sh", "-c", "PATH=/usr/sbin:/sbin:$PATH; \(script)"])
        guard command.status == .code(0) else {
            throw MissingDependency(description: "no disk in a file can be had here: \(script): \(command.error)")
        }
    }
}
