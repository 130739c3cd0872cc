// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("web.config.yml")
    struct WebConfigurationTests {
        private static let certificates = Result { try TestCertificates() }

        private func load(_ text: String, _ certificates: TestCertificates) throws -> Result<
            SecurityRules, ConfigurationProblem
        > {
            let path = certificates.file("web-\(UUID().uuidString).yml")
            try Files.write(Array(text.utf8), to: path)
            defer { try? FileManager.default.removeItem(atPath: path) }
            do throws(ConfigurationProblem) {
                return .success(try SecurityFiles(webConfiguration: path, credentials: nil).rules)
            } catch {
                return .failure(ConfigurationProblem(error.origin, error.message))
            }
        }

        @Test(
            "web.config.yml is taken or refused with its line, what was expected and what may have been meant",
            arguments: WebConfigurationSample.all
        )
        func verdicts(sample: WebConfigurationSample) throws {
            switch (try load(sample.text, try Self.certificates.get()), sample.problem) {
            case (.success, nil): break
            case (.success, let expected?): Issue.record("taken, and not refused with \(expected)")
            case (.failure(let problem), let expected):
                let expected = try #require(expected, "\(problem)")
                #expect(problem.description.contains(expected), "\(problem)")
                #expect(!problem.description.contains("qUqP5cyxm6YcTAhz05Hph5gvu9M"))
                #expect(!problem.description.contains("zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"))
            }
        }

        @Test(
            "web.config.yml is judged as promtool judges it, where both mean the same",
            arguments: WebConfigurationSample.all.filter(\.isSharedVerdict)
        )
        func promtool(sample: WebConfigurationSample) throws {
            let certificates = try Self.certificates.get()
            let path = certificates.file("web-\(UUID().uuidString).yml")
            try Files.write(Array(sample.text.utf8), to: path)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
            process.arguments = ["check", "web-config", path]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect((process.terminationStatus == 0) == (sample.problem == nil))
        }

        @Test("web.config.yml says what holds when a key is left out, and what each key means")
        func values() throws {
            let certificates = try Self.certificates.get()
            let empty = try load("", certificates).get().web
            #expect(empty.tls == nil && empty.headers.isEmpty && empty.users.isEmpty && empty.rateLimit == nil)
            #expect(!empty.asksForHTTP2)
            let text = """
                tls_server_config:
                  cert_file: server.pem
                  key_file: \(certificates.file("server.key"))
                  client_auth_type: RequireClientCert
                  client_allowed_sans: [a, b]
                  max_version: TLS12
                  curve_preferences: [X25519]
                  cipher_suites: [TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_128_CBC_SHA]
                http_server_config: {http2: true, headers: {X-Frame-Options: deny, Content-Security-Policy: ""}}
                rate_limit: {interval: 500ms, burst: 3}
                """
            let rules = try load(text, certificates).get()
            let tls = try #require(rules.web.tls)
            #expect(tls.certificate == .file(certificates.file("server.pem")))
            #expect(tls.key == .file(certificates.file("server.key")))
            #expect(tls.clientAuthentication == .required)
            #expect(tls.allowedNames == ["a", "b"])
            #expect(tls.minimumVersion == .tlsv12 && tls.maximumVersion == .tlsv12)
            #expect(tls.cipherSuites == [.TLS_RSA_WITH_AES_128_CBC_SHA])
            #expect(tls.curves == [.x25519])
            #expect(rules.web.asksForHTTP2)
            #expect(rules.web.headers == [WebConfiguration.Header(name: "X-Frame-Options", value: "deny")])
            #expect(rules.web.rateLimit == TokenBucket.Limit(rate: 2, burst: 3))
            let ends = try #require(rules.tls?.certificateEnds)
            #expect(abs(Double(ends) - Date().timeIntervalSince1970 - 30 * 86_400) < 3_600)
        }

        @Test("web.config.yml takes certificates and keys that stand in it, and nothing older than its only suites")
        func inline() throws {
            let certificates = try Self.certificates.get()
            let text = """
                tls_server_config:
                  cert: |
                \(try certificates.indented("server.pem"))  key: |
                \(try certificates.indented("server.key"))  client_ca: |
                \(try certificates.indented("other.pem"))  client_auth_type: RequireAndVerifyClientCert
                  cipher_suites: [TLS_AES_128_GCM_SHA256]
                """
            let rules = try load(text, certificates).get()
            #expect(rules.tls != nil)
            #expect(rules.web.tls?.files == [])
            #expect(rules.web.tls?.minimumVersion == .tlsv13)
        }

        @Test("web.config.yml costs an unknown user what the dearest known one costs")
        func webConfigurationNobody() throws {
            let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
            let text = "basic_auth_users: {a: \(hash), b: \(hash.replacing("$05$", with: "$06$"))}"
            let web = try load(text, try Self.certificates.get()).get().web
            #expect(web.users.count == 2)
            #expect(web.nobody.cost == 6)
        }

        @Test("web.config.yml is bounded: size, depth, aliases, users", .timeLimit(.minutes(1)))
        func webConfigurationBounded() throws {
            let certificates = try Self.certificates.get()
            let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
            let many = (0...1_000).map { "  u\($0): \(hash)\n" }.joined()
            let bomb = (1...30).map { "l\($0): &l\($0) [*l\($0 - 1), *l\($0 - 1)]\n" }.joined()
            for (text, expected) in [
                ("basic_auth_users:\n\(many)", "expected at most 1000 users, found 1001"),
                ("l0: &l0 x\n\(bomb)", "anchors and aliases are not supported"),
                (String(repeating: "[", count: 100_000), "nested deeper"),
                (String(repeating: "#", count: 300_000), "expected at most 262144 bytes"),
            ] {
                guard case .failure(let problem) = try load(text, certificates) else {
                    Issue.record("taken, and not refused with \(expected)")
                    continue
                }
                #expect(problem.message.contains(expected), "\(problem)")
            }
        }

        @Test("durations are read as Go reads them")
        func webConfigurationDurations() {
            #expect(
                ["0", "0s", "1s", "100ms", "1m30s", "1.5h", "10us", "10µs"].map(GoDuration.seconds) == [
                    0, 0, 1, 0.1, 90, 5_400, 1e-5, 1e-5,
                ]
            )
            for text in [
                "", "1", "s", "-1s", "+1s", "1 s", "1S", "1d", "1e3s", "..s", "١s", "9999999h", "infs", "nans",
            ] {
                #expect(GoDuration.seconds(text) == nil, "\(text)")
            }
        }
    }
}
