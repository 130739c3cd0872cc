// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import TestSupport
import Testing

@Suite("health")
struct HealthTests {
    @Test("health ends with 0 while the service is ready, and with 1 once it is gone")
    func healthReady() async throws {
        try await withService { service in
            let url = "http://127.0.0.1:\(await service.client.port)"
            let ready = try await Command.telemetry("health", "--url", url)
            #expect(ready.status == .code(0))
            #expect(ready.text == "ready\n")
            let json = try await Command.telemetry("health", "--url", url, "--format", "json")
            #expect(json.text == "{\"ready\":true,\"problem\":null}\n")
            await service.kill()
            let gone = try await Command.telemetry("health", "--url", url)
            #expect(gone.status == .code(1))
            #expect(gone.text == "not ready: \(url)/-/ready: connection refused\n")
            let quiet = try await Command.telemetry("health", "--url", url, "--quiet")
            #expect(quiet.status == .code(1))
            #expect(quiet.text == "" && quiet.error == "")
        }
    }

    @Test("health says why the service is not ready")
    func healthNotReady() async throws {
        let cases: [(Response, String)] = [
            (FakeCollector.answer(.serviceUnavailable), "not ready yet (HTTP 503)"),
            (FakeCollector.answer(.ok, "hello"), "expected the answer of a collector, found another's"),
            (FakeCollector.answer(.unauthorized), "it wants to know who asks (HTTP 401); see --basic-auth-file"),
            (FakeCollector.answer(.movedPermanently), "expected HTTP 200, found HTTP 301"),
        ]
        for (answer, reason) in cases {
            try await FakeCollector.with { _ in
                answer
            } _: { _, port in
                let command = try await Command.telemetry("health", "--url", "http://127.0.0.1:\(port)")
                #expect(command.status == .code(1))
                #expect(command.text == "not ready: http://127.0.0.1:\(port)/-/ready: \(reason)\n")
            }
        }
        try await FakeCollector.with { _ in
            Response(status: .ok, body: FakeCollector.silent)
        } _: { _, port in
            let command = try await Command.telemetry(
                "health",
                "--url",
                "http://127.0.0.1:\(port)",
                "--timeout",
                "200ms",
                "--format",
                "json"
            )
            #expect(command.status == .code(1))
            #expect(command.text.contains("no answer within 200 ms"))
        }
    }

    @Test("health finds the service by its settings")
    func healthSettings() async throws {
        try await withService { service in
            let port = await service.client.port
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/config.yml"
                try Data("listen: [':\(port)', 'unix:/nonexistent/other']\n".utf8).write(
                    to: URL(fileURLWithPath: file)
                )
                let byFile = try await Command.telemetry("health", "--config", file)
                #expect(byFile.status == .code(0))
                #expect(byFile.text == "ready\n")
                let script = "DNP_TELEMETRY_LISTEN='127.0.0.1:\(port)' exec \"$0\" health --quiet"
                #expect(try await Command.run(["/bin/sh", "-c", script, Service.binary()]).status == .code(0))
                try Data("listn: ':1'\n".utf8).write(to: URL(fileURLWithPath: file))
                let broken = try await Command.telemetry("health", "--config", file)
                #expect(broken.status == .code(1))
                #expect(broken.text.hasPrefix("not ready: the settings cannot be read: \(file):1"))
            }
        }
    }

    @Test("health does not accept an arbitrary certificate of another machine")
    func healthRejectsForeignCertificate() async throws {
        let command = try await Command.telemetry("health", "--url", "https://example.org", "--insecure")
        #expect(command.status == .code(64))
        let missing = try await Command.telemetry("health", "--url", "unix:/nonexistent/socket")
        #expect(missing.status == .code(1))
        #expect(
            missing.text
                == "not ready: unix:/nonexistent/socket: there is no such socket, and no directory /nonexistent\n"
        )
    }
}
