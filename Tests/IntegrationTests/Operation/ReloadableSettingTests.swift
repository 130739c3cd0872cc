// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOHTTP1
import TestSupport
import Testing

/// A setting that changes with a reload, and how a running service shows that it did.
struct ReloadableSetting: Sendable, CustomTestStringConvertible {
    /// A running service with the setting at its first value.
    struct Scene: Sendable {
        let service: Service
        let client: TelemetryClient
        let directory: String
        let disk: FreezableDisk?
        /// Reloads the service with the setting at its second value.
        let reload: @Sendable () async throws -> Void
    }

    let name: String
    let first: String
    let second: String
    /// Other settings.
    var others = ""
    var options: [String] = []
    /// Whether the ledger stands on a disk that can hang.
    var needsDisk = false
    /// Whether there are the users alice and bob.
    var hasUsers = false
    let show: @Sendable (Scene) async throws -> Void

    var testDescription: String { name }

    /// A client that sends nothing of a body does not stall.
    static let patient = ["--transfer-grace", "1h"]
    /// A request whose body is still to come: to a patient service its connection is busy and is not evicted.
    static let awaitedBody =
        "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
        + "Content-Length: \(event.count)\r\n\r\n"
    static let largeBody =
        "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    /// A web configuration with two users, whose password is "wonderland".
    static let users = """
        basic_auth_users:
          alice: "$2y$05$P0kEXoSWercpEhhBHmEFp./7/Bc1TGOvjAxiA7AccxHJL2BqlDCOa"
          bob: "$2y$05$P0kEXoSWercpEhhBHmEFp./7/Bc1TGOvjAxiA7AccxHJL2BqlDCOa"

        """
    static let event = Array(#"{"event":"plugin_started","timestamp":"2025-11-15T05:41:00Z"}"#.utf8)
}

extension ReloadableSetting.Scene {
    func status(ofPost body: [UInt8], type: String = "application/json", encoding: String? = nil)
        async throws -> Int
    {
        try await client.post(body, type: type, encoding: encoding).status
    }

    func status(ofPostFrom origin: String) async throws -> Int {
        let headers: HTTPHeaders = ["Origin": origin]
        return try await client.post(ReloadableSetting.event, type: "application/json", headers: headers).status
    }

    /// The status of the console's list for a user of ``ReloadableSetting/users``.
    func statusOfConsole(for user: String) async throws -> Int {
        let credentials = Data("\(user):wonderland".utf8).base64EncodedString()
        return try await client.request(
            "/api/v1/openapi.json",
            headers: ["Authorization": "Basic \(credentials)"],
            within: .seconds(30)
        ).status
    }

    func statusOfPostWithToken() async throws -> Int {
        let answer = try await client.request(
            "/v1/events",
            method: "POST",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer 0123456789abcdef"],
            body: ReloadableSetting.event,
            within: .seconds(30)
        )
        return answer.status
    }

    /// The gzip form of what a shell command prints.
    func gzip(_ command: String) async throws -> [UInt8] {
        let result = try await Command.run(["/bin/sh", "-c", "\(command) | gzip -c"])
        return Array(result.output)
    }

    /// A connection with the beginning of a request.
    func begun(_ text: String) throws -> RawConnection {
        let conversation = try RawConnection(port: client.port)
        conversation.send(text)
        return conversation
    }

    /// Runs the body while the ledger hangs with a batch, which is answered afterwards.
    func whileLedgerHangs(_ body: () async throws -> Void) async throws {
        let disk = try #require(disk)
        try await disk.freeze()
        let client = client
        async let hung = client.post(ReloadableSetting.event, type: "application/json").status
        do {
            try await eventually("the writer hangs") {
                try await client.metrics().sum("dnp_telemetry_ledger_busy_seconds") > 0.05
            }
            try await body()
        } catch {
            try await disk.thaw()
            throw error
        }
        try await disk.thaw()
        let status = try await hung
        #expect(status == 200)
    }
}

extension ReloadableSetting {
    static let all = storing + bodies + connections + rates + times + telling

    private static let storing = [
        ReloadableSetting(name: "retention", first: "1d", second: "0", others: "journal: off") { scene in
            #expect(try await scene.status(ofPost: event) == 200)
            let name = "dnp_telemetry_ledger_backlog_batches"
            #expect(try await scene.client.metrics().value(name) == 1)
            try await scene.reload()
            try await eventually("the batch is deleted") {
                try await scene.client.metrics().value(name) == 0
            }
        },
        ReloadableSetting(
            name: "export-backlog",
            first: "1GiB",
            second: "16MiB",
            // Nobody listens there.
            others: "journal: off\nexport: otlp http://127.0.0.1:9 only=logs"
        ) { scene in
            func kept() async throws -> Double {
                try await scene.client.metrics().value("dnp_telemetry_ledger_backlog_batches") ?? 0
            }
            for round in 0..<5 {
                let batch = EventFactory(prefix: "\(round)-\(String(repeating: "x", count: 90))").cycles(0..<8_000)
                #expect(try await scene.status(ofPost: batch.ndjson, type: "application/x-ndjson") == 200)
            }
            let waiting = try await kept()
            #expect(waiting >= 5)
            try await scene.reload()
            try await eventually("the oldest do not wait any more") { try await kept() < waiting }
        },
        ReloadableSetting(name: "max-backlog", first: "64MiB", second: "1MiB", needsDisk: true) { scene in
            let large = EventFactory(prefix: "backlog").cycles(0..<10_000).ndjson
            try await scene.whileLedgerHangs {
                let client = scene.client
                async let waiting = client.post(large).status
                try await eventually("a large batch waits too", within: .seconds(60)) {
                    try await client.metrics().value("dnp_telemetry_ledger_waiting_submissions") ?? 0 >= 2
                }
                try await scene.reload()
                let refused = try await client.post(large)
                #expect(refused.status == 503)
                #expect(try refused.problem().type == "urn:dnp-telemetry:problem:overloaded")
                try await scene.disk?.thaw()
                let status = try await waiting
                #expect(status == 200)
                try await scene.disk?.freeze()
            }
        },
        ReloadableSetting(name: "max-commit-time", first: "1h", second: "10ms", needsDisk: true) { scene in
            try await scene.whileLedgerHangs {
                try await scene.reload()
                let refused = try await scene.client.post(event, type: "application/json")
                #expect(try refused.problem().type == "urn:dnp-telemetry:problem:ledger-slow")
            }
        },
    ]

    private static let bodies = [
        ReloadableSetting(name: "max-body", first: "1KiB", second: "10") { scene in
            #expect(try await scene.status(ofPost: event) == 200)
            try await scene.reload()
            #expect(try await scene.status(ofPost: event) == 413)
        },
        ReloadableSetting(name: "max-decompressed-body", first: "1KiB", second: "10") { scene in
            let body = try await scene.gzip("echo '\(String(decoding: event, as: UTF8.self))'")
            #expect(try await scene.status(ofPost: body, encoding: "gzip") == 200)
            try await scene.reload()
            #expect(try await scene.status(ofPost: body, encoding: "gzip") == 413)
        },
        ReloadableSetting(name: "max-compression-ratio", first: "10000", second: "2") { scene in
            let event = String(decoding: event, as: UTF8.self)
            let body = try await scene.gzip(
                "(echo '\(event)'; head -c 2000000 /dev/zero | tr '\\0' '\\n')"
            )
            #expect(
                try await scene.status(ofPost: body, type: "application/x-ndjson", encoding: "gzip") == 200
            )
            try await scene.reload()
            let refused = try await scene.client.post(body, encoding: "gzip")
            #expect(try refused.problem().type == "urn:dnp-telemetry:problem:compression-ratio")
        },
        ReloadableSetting(
            name: "max-bytes-in-flight",
            first: "2MiB",
            second: "16MiB",
            others: "max-body: 1MiB\nmax-decompressed-body: 1MiB",
            options: patient
        ) { scene in
            let head =
                "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\n"
                + "Content-Length: 1000000\r\n\r\n"
            let body = event + Array(String(repeating: "\n", count: 300_000).utf8)
            let status = { try await scene.status(ofPost: body, type: "application/x-ndjson") }
            let held = try await awaited("the held bodies use all bytes in flight", within: .seconds(60)) {
                () -> [RawConnection]? in
                let held = try (0..<2).map { _ in
                    try scene.begun(head + String(repeating: "\n", count: 990_000))
                }
                // A held body that still arrives is refused itself where this request took its space, and then gives back
                // its own: the next requests are let in.
                var refusedInARow = 0
                for _ in 0..<50 {
                    refusedInARow = try await status() == 503 ? refusedInARow + 1 : 0
                    guard held.allSatisfy({ !$0.isClosed }) else { return nil }
                    if refusedInARow == 3 { return held }
                }
                return nil
            }
            try await scene.reload()
            #expect(try await status() == 200)
            #expect(held.allSatisfy { !$0.isClosed })
        },
    ]

    private static let connections = [
        ReloadableSetting(
            name: "max-connections",
            first: "1",
            second: "8",
            options: patient + ["--body-timeout", "1h"]
        ) { scene in
            let held = try scene.begun(awaitedBody)
            try await eventually("it is the only one") {
                let other = try scene.begun(awaitedBody + String(decoding: event, as: UTF8.self))
                return try await !isAnswered(other, within: .milliseconds(300))
            }
            try await scene.reload()
            #expect(try await scene.status(ofPost: event) == 200)
            held.send(String(decoding: event, as: UTF8.self))
            #expect(status(of: try await held.receive { _ in false }) == 200)
        },
        ReloadableSetting(name: "max-connections-per-client", first: "off", second: "1", options: patient) { scene in
            let held = try scene.begun(awaitedBody)
            #expect(status(of: try await RawConnection(port: scene.client.port).ask("/-/ready")) == 200)
            try await scene.reload()
            try await eventually("a second one is closed") {
                try await RawConnection(port: scene.client.port).ask("/-/ready") == ""
            }
            #expect(!held.isClosed)
        },
        ReloadableSetting(name: "max-scrapes", first: "1", second: "100", options: LargePage.options + patient) {
            scene in
            let client = scene.client
            _ = try await client.post(LargePage.events).receipt()
            let whole = try await client.scrape()
            let held = try SilentClient(
                port: client.port,
                answersOf: whole.body.count,
                spare: 1_000,
                headers: ["X-Prometheus-Scrape-Timeout-Seconds: 120"]
            )
            try await eventually("all other scrapes are refused") {
                for _ in 0..<10 where try await client.scrape().status != 503 { return false }
                return true
            }
            try await scene.reload()
            for _ in 0..<10 { #expect(try await client.scrape().status == 200) }
            #expect(held.times > 0)
        },
    ]

    private static let rates = [
        ReloadableSetting(name: "client-rate", first: "off", second: "1/h") { scene in
            for _ in 0..<5 { #expect(try await scene.client.get("/-/healthy").status == 200) }
            try await scene.reload()
            try await eventually("the rate holds") {
                try await scene.client.get("/-/healthy").status == 429
            }
        },
        ReloadableSetting(
            name: "token-limit",
            first: "ios=1000/s",
            second: "ios=1/h",
            others: "credentials-dir: tokens"
        ) {
            scene in
            for _ in 0..<5 { #expect(try await scene.statusOfPostWithToken() == 200) }
            try await scene.reload()
            try await eventually("the limit holds") { try await scene.statusOfPostWithToken() == 429 }
        },
    ]

    private static let times = [
        ReloadableSetting(name: "header-timeout", first: "1h", second: "1s") { scene in
            try await scene.reload()
            let slow = try scene.begun("GET /-/ready HTTP/1.1\r\n")
            #expect(status(of: try await slow.receive { _ in false }) == 408)
        },
        ReloadableSetting(name: "body-timeout", first: "1h", second: "100ms") { scene in
            try await scene.reload()
            let slow = try scene.begun(
                "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
            )
            #expect(status(of: try await slow.receive { _ in false }) == 408)
        },
        ReloadableSetting(
            name: "response-timeout",
            first: "1h",
            second: "2s",
            options: LargePage.options + patient
        ) { scene in
            let client = scene.client
            _ = try await client.post(LargePage.events).receipt()
            let whole = try await client.scrape()
            try await scene.reload()
            let silent = try SilentClient(
                port: client.port,
                answersOf: whole.body.count,
                headers: ["X-Prometheus-Scrape-Timeout-Seconds: 120"]
            )
            try await eventually("the connection is closed") {
                try await client.metrics().value("dnp_telemetry_http_timeouts_total", ["phase": "response"])
                    ?? 0 >= 1
            }
            #expect(silent.times > 0)
        },
        ReloadableSetting(name: "idle-timeout", first: "1h", second: "100ms") { scene in
            try await scene.reload()
            let silent = try scene.begun("GET /-/ready HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(
                status(of: try await silent.receive { _ in false }) == 200,
                "it is closed after an answer"
            )
        },
        ReloadableSetting(
            name: "min-transfer-rate",
            first: "1",
            second: "1GiB",
            options: ["--transfer-grace", "500ms", "--body-timeout", "1h"]
        ) { scene in
            try await scene.reload()
            let slow = try scene.begun(largeBody)
            try await eventually("it is too slow") {
                slow.send("{")
                return slow.hasUnreadBytes
            }
            #expect(status(of: try await slow.receive { _ in false }) == 408)
        },
        ReloadableSetting(
            name: "transfer-grace",
            first: "1h",
            second: "200ms",
            options: ["--body-timeout", "1h"]
        ) { scene in
            try await scene.reload()
            let answer = try await scene.begun(largeBody).receive { _ in false }
            #expect(status(of: answer) == 408 && answer.contains("--min-transfer-rate"))
        },
    ]

    private static let telling = [
        ReloadableSetting(name: "cors-origin", first: "https://app.example.org", second: "capacitor://localhost") {
            scene in
            #expect(try await scene.status(ofPostFrom: "https://app.example.org") == 200)
            #expect(try await scene.status(ofPostFrom: "capacitor://localhost") == 403)
            try await scene.reload()
            #expect(try await scene.status(ofPostFrom: "https://app.example.org") == 403)
            #expect(try await scene.status(ofPostFrom: "capacitor://localhost") == 200)
        },
        ReloadableSetting(name: "console-users", first: "alice", second: "bob", hasUsers: true) { scene in
            try await eventually("the service answers") { try await scene.statusOfConsole(for: "alice") == 200 }
            #expect(try await scene.statusOfConsole(for: "bob") == 403)
            try await scene.reload()
            #expect(try await scene.statusOfConsole(for: "alice") == 403)
            #expect(try await scene.statusOfConsole(for: "bob") == 200)
        },
        ReloadableSetting(name: "log-level", first: "notice", second: "info") { scene in
            try await scene.reload()
            #expect(await !scene.service.log.contains("recovered"))
            #expect(try await scene.service.terminate() == .code(0))
            #expect(await scene.service.log.contains("stopped; the ledger is closed"))
        },
    ]

    /// Whether a response begins within the limit.
    private static func isAnswered(_ conversation: RawConnection, within limit: Duration) async throws
        -> Bool
    {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if conversation.hasUnreadBytes { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}

extension InPairs {
    @Suite("hot-reloadable settings")
    struct ReloadableSettingTests {
        @Test(
            "a hot-reloadable setting changes the running service at the next reload",
            arguments: ReloadableSetting.all
        )
        func reloadedSetting(setting: ReloadableSetting) async throws {
            guard setting.needsDisk else { return try await run(setting, in: nil) }
            try await MountNamespace.with { try await run(setting, in: $0) }
        }

        private func run(_ setting: ReloadableSetting, in namespace: MountNamespace?) async throws {
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/config.yml"
                let write = { @Sendable (value: String) in
                    try Data("\(setting.name): \(value)\n\(setting.others)\n".utf8).write(
                        to: URL(fileURLWithPath: file)
                    )
                }
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/tokens",
                    withIntermediateDirectories: false
                )
                try Data("0123456789abcdef".utf8).write(
                    to: URL(fileURLWithPath: "\(directory)/tokens/token-ios")
                )
                let web = "\(directory)/web.yml"
                if setting.hasUsers { try Files.write(Array(ReloadableSetting.users.utf8), to: web) }
                try write(setting.first)
                var disk: FreezableDisk?
                try await withService(
                    options: ["--config", file] + (setting.hasUsers ? ["--web-config", web] : []) + setting.options,
                    in: namespace,
                    asksWhetherReady: !setting.hasUsers,
                    prepare: { if let namespace { disk = try await FreezableDisk(at: $0, in: namespace) } }
                ) { service in
                    let scene = ReloadableSetting.Scene(
                        service: service,
                        client: await service.client,
                        directory: directory,
                        disk: disk
                    ) {
                        try write(setting.second)
                        await service.signal(SIGHUP)
                        try await eventually("the configuration was reloaded") {
                            await service.log.contains("changed=\(setting.name)")
                        }
                    }
                    try await setting.show(scene)
                }
            }
        }

        @Test("every setting that docs/configuration.md calls hot-reloadable is changed by a test, and no other")
        func everyReloadableSetting() {
            let root = Sample.directory.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let readme = text(of: root.appendingPathComponent("docs/configuration.md").path)
            let alive = readme.split(separator: "\n").filter {
                $0.hasPrefix("| `") && $0.hasSuffix("| yes |")
            }
            .map { String($0.dropFirst(3).prefix { $0 != "`" }) }
            #expect(alive.sorted() == ReloadableSetting.all.map(\.name).sorted())
        }
    }
}
