// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
    /// Which certificate a client shows.
    enum Shown: String, CaseIterable {
        case none, known, unknown, forServers
    }

    private static let pair = "cert_file: server.pem, key_file: server.key"

    private func with(
        _ tls: String,
        _ more: String = "",
        options: [String] = [],
        _ body: (Service, String, CertificateAuthority, WebConfigurationFile) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let authority = try await CertificateAuthority(in: directory)
            try await authority.sign("known", names: "DNS:client.example,email:ops@example.org")
            try await authority.selfSign("unknown", names: "DNS:client.example")
            try await authority.sign("forServers", names: "DNS:client.example", use: "serverAuth")
            let text = "tls_server_config: {\(Self.pair)\(tls.isEmpty ? "" : ", \(tls)")}\n\(more)"
            let file = try WebConfigurationFile(text, in: directory)
            try await withService(options: ["--web-config", file.path] + options, asksWhetherReady: false) {
                service in
                try await body(service, "https://127.0.0.1:\(await service.client.port)", authority, file)
            }
        }
    }

    private func options(_ shown: Shown, _ authority: CertificateAuthority) -> [String] {
        let own =
            shown == .none
            ? [] : ["--cert", authority.file("\(shown).pem"), "--key", authority.file("\(shown).key")]
        return ["--cacert", authority.file("ca.pem")] + own
    }

    @Test(
        "the commands that the start screen suggests work as they are, with TLS, a name in the certificate, and tokens"
    )
    func suggestedCommands() async throws {
        try await withTemporaryDirectory { directory in
            let authority = try await CertificateAuthority(in: directory)
            try await authority.sign("other", names: "DNS:telemetry.example.org", use: "serverAuth")
            let tokens = "\(directory)/it's a place"
            try FileManager.default.createDirectory(atPath: tokens, withIntermediateDirectories: false)
            try Files.write(Array("tls-0123456789abcdef\n".utf8), to: "\(tokens)/token-a")
            let file = try WebConfigurationFile(
                "tls_server_config: {cert_file: other.pem, key_file: other.key}\n",
                in: directory
            )
            let options = ["--web-config", file.path, "--credentials-dir", tokens]
            try await withService(options: options, asksWhetherReady: false) { service in
                let commands = await service.log.split(separator: "\n").filter { $0.hasPrefix("  curl ") }
                #expect(commands.count == 2)
                var printed: [String] = []
                for command in commands {
                    let done = try await Command.run(["/bin/sh", "-c", String(command)])
                    #expect(done.status == .code(0), "\(command): \(done.error)")
                    printed.append(done.text)
                }
                #expect(printed.first?.contains(#""accepted":1"#) == true, "\(commands) \(printed)")
                #expect(printed.last?.contains("dnp_prefetch_scheduled_total 1") == true)
            }
        }
    }

    @Test("TLS encrypts requests and answers, and the start screen says so")
    func tlsEncrypts() async throws {
        try await with("") { service, base, authority, _ in
            #expect(await service.screen["post"] == "\(base)/v1/events")
            let answer = try await Curl.get(base + "/metrics", options(.none, authority))
            #expect(answer.status == 200)
            let page = MetricsPage(answer.body)
            let ends = page.value("dnp_telemetry_tls_certificate_not_after_timestamp_seconds") ?? 0
            #expect(abs(ends - Date().timeIntervalSince1970 - 30 * 86_400) < 3_600)
            #expect(page.value("dnp_telemetry_tls_handshakes_total", ["result": "completed"]) == 1)
            let batch = EventFactory(prefix: "tls").cycles(0..<500)
            try Data(batch.ndjson).write(to: URL(fileURLWithPath: authority.file("batch")))
            let post = ["-H", "Content-Type: application/x-ndjson", "--data-binary", "@\(authority.file("batch"))"]
            let receipt = try await Curl.get(base + "/v1/events", options(.none, authority) + post)
            #expect(receipt.body.contains("\"accepted\":\(batch.count),"))
            #expect(try await Curl.get(base + "/metrics").status == nil)
            let clear = try await Curl.get(base.replacing("https:", with: "http:") + "/metrics")
            #expect(clear.status == 400)
            #expect(clear.body.contains("use https"))
        }
    }

    @Test(
        "TLS accepts client certificates by client_auth_type, as Prometheus does with the same file",
        arguments: [
            ("NoClientCert", [true, true, true, true]),
            ("RequestClientCert", [true, true, true, true]),
            ("RequireAnyClientCert", [false, true, true, true]),
            ("VerifyClientCertIfGiven", [true, true, false, false]),
            ("RequireAndVerifyClientCert", [false, true, false, false]),
        ]
    )
    func tlsClientCertificates(type: String, expected: [Bool]) async throws {
        let authorities = type == "NoClientCert" ? "" : ", client_ca_file: ca.pem"
        try await with("client_auth_type: \(type)\(authorities)") { _, base, authority, file in
            func verdicts(_ base: String) async throws -> [Bool] {
                var verdicts: [Bool] = []
                for shown in Shown.allCases {
                    verdicts.append(try await Curl.get(base + "/-/ready", options(shown, authority)).status == 200)
                }
                return verdicts
            }
            #expect(try await verdicts(base) == expected)
            let peer = try await withPrometheus(file) { base in try await verdicts(base) }
            #expect(peer == expected)
        }
    }

    /// Runs a Prometheus that serves with the same file.
    private func withPrometheus<Value>(
        _ file: WebConfigurationFile,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        try MissingDependency.require(executable: "/usr/bin/prometheus", package: "prometheus")
        return try await withTemporaryDirectory { directory in
            try Data("global: {}\n".utf8).write(to: URL(fileURLWithPath: "\(directory)/prometheus.yml"))
            let port = try FreePort.any()
            let process = try ChildProcess(
                [
                    "/usr/bin/prometheus", "--config.file=\(directory)/prometheus.yml",
                    "--storage.tsdb.path=\(directory)/data", "--web.listen-address=127.0.0.1:\(port)",
                    "--web.config.file=\(file.path)",
                ],
                logs: directory,
                name: "prometheus"
            )
            do {
                try await eventually("Prometheus is ready: \(process.errorText)") {
                    process.errorText.contains("Server is ready to receive web requests")
                }
                let value = try await body("https://127.0.0.1:\(port)")
                await process.killAndWait()
                return value
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }

    @Test(
        "TLS accepts only clients whose certificate has an allowed name",
        arguments: [
            ("RequireAndVerifyClientCert", "client.example", true),
            ("RequireAnyClientCert", "client.example", true),
            ("RequireAndVerifyClientCert", "ops@example.org", true), ("RequireAndVerifyClientCert", "known", false),
            ("RequireAnyClientCert", "other.example", false), ("RequireAndVerifyClientCert", "*.example", false),
        ]
    )
    func tlsAllowedNames(type: String, name: String, isAllowed: Bool) async throws {
        let tls = "client_auth_type: \(type), client_ca_file: ca.pem, client_allowed_sans: [other, '\(name)']"
        try await with(tls) { _, base, authority, _ in
            #expect(try await Curl.get(base + "/-/ready", options(.none, authority)).status == nil)
            let answer = try await Curl.get(base + "/-/ready", options(.known, authority))
            #expect((answer.status == 200) == isAllowed, "\(answer.error)")
        }
    }

    @Test("a resumed TLS session of a client with a certificate is as good as its first, and no better")
    func tlsResumed() async throws {
        let names = "client_allowed_sans: [client.example]"
        let tls = "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem, \(names)"
        try await with(tls) { _, base, authority, _ in
            let session = authority.file("session")
            for version in ["-tls1_2", "-tls1_3"] {
                let connect =
                    ["/usr/bin/openssl", "s_client", "-connect", String(base.dropFirst("https://".count)), version]
                    + ["-CAfile", authority.file("ca.pem"), "-ign_eof"]
                let certificate = ["-cert", authority.file("known.pem"), "-key", authority.file("known.key")]
                let request = "GET /-/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                let first = try await Command.run(connect + certificate + ["-sess_out", session], input: request)
                #expect(first.text.contains("HTTP/1.1 200"))
                let second = try await Command.run(connect + certificate + ["-sess_in", session], input: request)
                #expect(
                    second.text.contains("HTTP/1.1 200"),
                    "\(version): \(second.text.suffix(300))\(second.error.suffix(300))"
                )
                let without = try await Command.run(connect, input: request)
                #expect(!without.text.contains("HTTP/1.1 200"))
            }
        }
    }

    @Test("TLS speaks the configured versions, suites and curves, and no others")
    func tlsVersions() async throws {
        func handshake(_ base: String, _ options: [String]) async throws -> Bool {
            let address = String(base.dropFirst("https://".count))
            let command = try await Command.run(
                ["/usr/bin/openssl", "s_client", "-connect", address] + options,
                input: ""
            )
            return command.status == .code(0) && command.text.contains("Cipher is")
                && !command.text.contains("(NONE)")
        }
        try await with("") { _, base, _, _ in
            for (options, expected) in [
                (["-tls1_1", "-cipher", "ALL@SECLEVEL=0"], false), (["-tls1_2"], true), (["-tls1_3"], true),
            ] {
                let isDone = try await handshake(base, options)
                #expect(isDone == expected, "\(options)")
            }
        }
        try await with("min_version: TLS13, curve_preferences: [CurveP384]") { _, base, _, _ in
            for (options, expected) in [
                (["-tls1_2"], false), (["-tls1_3"], true), (["-tls1_3", "-curves", "X25519"], false),
            ] {
                let isDone = try await handshake(base, options)
                #expect(isDone == expected, "\(options)")
            }
        }
        try await with("max_version: TLS12, cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]") {
            _,
            base,
            _,
            _ in
            for (options, expected) in [
                (["-tls1_3"], false), (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"], true),
                (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"], false),
            ] {
                let isDone = try await handshake(base, options)
                #expect(isDone == expected, "\(options)")
            }
        }
    }

    @Test("a new certificate is used without a restart, one that does not fit its key is not")
    func tlsChangedCertificate() async throws {
        try await with("") { service, base, authority, _ in
            func subject() async throws -> String {
                let address = String(base.dropFirst("https://".count))
                let command = try await Command.run(
                    ["/usr/bin/openssl", "s_client", "-connect", address],
                    input: ""
                )
                return command.text.split(separator: "\n").first { $0.hasPrefix("subject=") }.map(String.init) ?? ""
            }
            #expect(try await subject() == "subject=CN = server")
            try await authority.sign("next", names: "DNS:localhost,IP:127.0.0.1", use: "serverAuth")
            func replace(_ kind: String) throws {
                try contents(of: authority.file("next.\(kind)")).write(
                    to: URL(fileURLWithPath: authority.file("server.\(kind)"))
                )
            }
            try replace("pem")
            try await eventually("the certificate without its key is counted") {
                let page = MetricsPage(try await Curl.get(base + "/metrics", "-k").body)
                return page.value("dnp_telemetry_web_config_reloads_total", ["result": "failure"]) == 1
            }
            #expect(try await subject() == "subject=CN = server")
            try replace("key")
            try await eventually("the new certificate is shown") { try await subject() == "subject=CN = next" }
            #expect(try await Curl.get(base + "/-/ready", options(.none, authority)).status == 200)
        }
    }

    @Test("a real Prometheus scrapes over TLS with a user and a client certificate")
    func tlsPrometheus() async throws {
        let users = "basic_auth_users: {prometheus: \(try await WebConfigurationFile.hash("scrape-me", cost: 8))}\n"
        let tls = "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem"
        try await with(tls, users) { service, base, authority, _ in
            let files = "ca_file: \(authority.file("ca.pem")), cert_file: \(authority.file("known.pem"))"
            let access = [
                "scheme: https", "basic_auth: {username: prometheus, password: scrape-me}",
                "tls_config: {\(files), key_file: \(authority.file("known.key"))}",
            ]
            try await Prometheus.with(scraping: await service.client.port, access: access) { prometheus in
                try await eventually("the scrape succeeds") { try await prometheus.query("up").map(\.value) == [1] }
                try await eventually("the counters arrive") {
                    try await prometheus.query("dnp_prefetch_executed_total").map(\.value) == [0]
                }
            }
            let page = try await Curl.get(
                base + "/metrics",
                options(.known, authority) + ["-u", "prometheus:scrape-me"]
            )
            #expect(MetricsPage(page.body).sum("dnp_telemetry_http_unauthorized_total") == 0)
        }
    }

    @Test("a TLS handshake that is not finished in time is closed, and others are served meanwhile")
    func tlsSlowHandshake() async throws {
        try await with("", options: ["--header-timeout", "1s"]) { service, base, authority, _ in
            let address = "/dev/tcp/127.0.0.1/\(await service.client.port)"
            let script = "exec 3<>\(address); printf '\\x16\\x03\\x01\\x02' >&3; timeout 20 cat <&3 >/dev/null"
            async let slow = Command.run(["/bin/bash", "-c", script])
            let answer = try await Curl.get(base + "/-/ready", options(.none, authority))
            #expect(answer.status == 200)
            let status = try await slow.status
            #expect(status == .code(0))
            let page = MetricsPage(try await Curl.get(base + "/metrics", options(.none, authority)).body)
            #expect(page.value("dnp_telemetry_tls_handshakes_total", ["result": "failed"]) == 1)
        }
    }

    @Test("clients that drip heads or half a TLS handshake up to the limit keep nobody out")
    func tlsDrippers() async throws {
        let limit = ["--max-connections", "4", "--header-timeout", "5m"]
        try await with("", options: limit) { service, base, authority, _ in
            let port = await service.client.port
            let handshakes = try (0..<4).map { _ in try RawConnection(port: port) }
            for handshake in handshakes { handshake.send("\u{16}\u{3}\u{1}") }
            #expect(try await Curl.get(base + "/-/ready", options(.none, authority)).status == 200)

            // What is stopped answers no end of TLS either.
            var heads: [ChildProcess] = []
            for index in 0..<4 {
                let command = ["/usr/bin/openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(port)"]
                let head = try ChildProcess(command, logs: authority.directory, name: "head-\(index)")
                heads.append(head)
                try await head.write(Data("GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\nG".utf8))
                try await eventually("it is answered") {
                    String(decoding: head.output, as: UTF8.self).contains("200")
                }
                await head.signal(SIGSTOP)
            }
            #expect(try await Curl.get(base + "/-/ready", options(.none, authority)).status == 200)
            for head in heads { await head.killAndWait() }
            withExtendedLifetime(handshakes) {}
        }
    }

    @Test("bytes that are not TLS, a cut handshake and many of them leave the service ready")
    func tlsNoise() async throws {
        try await with("") { service, base, authority, _ in
            let port = await service.client.port
            for input in [
                "", "\\x16", "\\x16\\x03\\x01\\x02\\x00\\x01", "hello\\n", "\\x80\\x2e\\x01\\x00\\x02",
                "\\xff\\xff\\xff\\xff",
            ] {
                let send = "printf '\(input)' > /dev/tcp/127.0.0.1/\(port)"
                _ = try await Command.run(["/bin/bash", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do \(send); done"])
            }
            let answer = try await Curl.get(base + "/metrics", options(.none, authority))
            #expect(answer.status == 200)
            try await eventually("the failed handshakes are counted") {
                let page = MetricsPage(try await Curl.get(base + "/metrics", options(.none, authority)).body)
                return page.value("dnp_telemetry_tls_handshakes_total", ["result": "failed"]) ?? 0 >= 50
            }
            #expect(await !service.log.contains("error"))
        }
    }
}
