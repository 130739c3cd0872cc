// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("start")
struct StartTests {
    @Test("the start screen names the addresses, the ledger and the journal")
    func startScreen() async throws {
        try await withService { service in
            let screen = await service.screen
            let port = await service.client.port
            let state = await service.settings.stateDirectory
            #expect(screen["post"] == "http://127.0.0.1:\(port)/v1/events")
            #expect(screen["scrape"] == "http://127.0.0.1:\(port)/metrics")
            #expect(screen["ledger"]?.hasPrefix("\(state)/ledger.sqlite") == true)
            #expect(screen["journal"]?.hasPrefix("off") == true)
            #expect(await service.output == "", "standard output is for results")
            #expect(try await service.client.get("/-/healthy").status == 200)
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(state)/installation.key")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test("with --quiet the start shows nothing")
    func startQuiet() async throws {
        let port = try FreePort.any()
        try await withService(listen: "127.0.0.1:\(port)", options: ["--quiet"]) { service in
            #expect(await service.log == "")
            let status = try await service.terminate()
            #expect(status == .code(0))
            #expect(await service.log == "")
        }
    }

    @Test("the journal on standard output is one line of JSON per event")
    func journalOnStandardOutput() async throws {
        let batch = EventFactory(prefix: "stdout").cycles(0..<50)
        try await withService(journal: .stdout) { service in
            _ = try await service.client.post(batch.ndjson).receipt()
            try await eventually("all lines are written") {
                await service.output.split(separator: "\n").count >= batch.count
            }
            try await waitUntilJournaled(service)
            #expect(try await service.terminate() == .code(0))
            var seen: [EventIdentity: Int] = [:]
            for line in await service.output.split(separator: "\n") {
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                let schedule = object["scheduleId"] as? String ?? ""
                seen[EventIdentity(scheduleId: schedule, kind: object["event"] as? String ?? ""), default: 0] += 1
            }
            #expect(seen == Dictionary(uniqueKeysWithValues: batch.identities.map { ($0, 1) }))
        }
    }

    /// Starts a second service that must fail, and returns its log.
    private func refusal(_ settings: Service.Settings) async throws -> String {
        try await withTemporaryDirectory { directory in
            let process = try await Service(settings, logs: directory).launch()
            do {
                let status = try await process.waitForExit(within: .seconds(15))
                if case .code(let code) = status {
                    #expect(code != 0)
                } else {
                    Issue.record("ended by a signal: \(status)")
                }
            } catch {
                await process.killAndWait()
                throw error
            }
            let said = process.errorText
            #expect(!said.contains("Fatal error") && !said.contains("Stack dump") && !said.contains("backtrace"))
            let lines = said.split(whereSeparator: \.isNewline).filter { $0.lowercased().contains("error") }
            #expect(lines.count == 1, "one clear error, not this: \(said)")
            return said
        }
    }

    @Test("a port in use is one clear error at the start")
    func startPortInUse() async throws {
        try await withService { service in
            let port = await service.client.port
            try await withTemporaryDirectory { other in
                let said = try await refusal(
                    Service.Settings(stateDirectory: "\(other)/state", listen: "127.0.0.1:\(port)")
                )
                #expect(said.contains("cannot listen on 127.0.0.1:\(port)"), "\(said)")
            }
            #expect(try await service.client.get("/-/ready").status == 200)
        }
    }

    @Test(
        "a ledger of zero bytes, a missing one and another key are one clear error each at the start, and put back go on"
    )
    func startWithoutItsLedger() async throws {
        try await withService { service in
            let batch = EventFactory(prefix: "kept").cycles(0..<20)
            _ = try await service.client.post(batch.ndjson).receipt()
            #expect(try await service.terminate() == .code(0))
            let state = await service.settings.stateDirectory
            let wrong: [(name: String, found: Data?)] = [
                ("ledger.sqlite", Data()), ("ledger.sqlite", nil), ("installation.key", Data(1...32)),
            ]
            for (name, found) in wrong {
                let path = "\(state)/\(name)"
                let kept = contents(of: path)
                try FileManager.default.removeItem(atPath: path)
                if let found {
                    #expect(
                        FileManager.default.createFile(
                            atPath: path,
                            contents: found,
                            attributes: [.posixPermissions: 0o600]
                        )
                    )
                }
                let said = try await refusal(Service.Settings(stateDirectory: state))
                #expect(said.contains(path) && said.contains("expected") && said.contains("restore"), "\(said)")
                try kept.write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                try await service.start()
                #expect(try await service.client.metrics().lifecycle == batch.totals.series)
                #expect(try await service.terminate() == .code(0))
            }
        }
    }

    @Test("an unwritable state directory is one clear error at the start")
    func startUnwritableState() async throws {
        try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                try await namespace.mountMemory(at: directory, options: "ro,size=1m")
                let said = try await refusal(
                    Service.Settings(stateDirectory: "\(directory)/state", namespace: namespace)
                )
                #expect(said.contains(directory), "\(said)")
                #expect(said.lowercased().contains("read-only"), "\(said)")
            }
        }
    }

    @Test("a full disk is one clear error at the start that says to start again")
    func startFullDisk() async throws {
        try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                try await namespace.mountMemory(at: directory, options: "size=64k")
                let said = try await refusal(
                    Service.Settings(stateDirectory: "\(directory)/state", namespace: namespace)
                )
                #expect(said.contains("no space left"), "\(said)")
                #expect(said.contains("free some space and start it again"), "\(said)")
            }
        }
    }

    @Test("a file in place of the state directory is one clear error at the start")
    func startFileForState() async throws {
        try await withTemporaryDirectory { directory in
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(directory)/state"))
            let said = try await refusal(Service.Settings(stateDirectory: "\(directory)/state"))
            #expect(said.contains("\(directory)/state is a file; choose another one"), "\(said)")
            let below = try await refusal(Service.Settings(stateDirectory: "\(directory)/state/below"))
            #expect(below.contains("\(directory)/state is a file; choose another one"), "\(below)")
        }
    }

    @Test("a second service on the same state directory is refused, and the first goes on")
    func startSecondService() async throws {
        let batch = EventFactory(prefix: "first").cycles(0..<10)
        try await withService { service in
            let state = await service.settings.stateDirectory
            let said = try await refusal(Service.Settings(stateDirectory: state))
            #expect(said.contains(state), "\(said)")
            _ = try await service.client.post(batch.ndjson).receipt()
            #expect(try await service.client.metrics().lifecycle == batch.totals.series)
            await service.kill()
            try await service.start()
            #expect(
                try await service.client.metrics().lifecycle == batch.totals.series,
                "a dead owner holds nothing"
            )
        }
    }
}
