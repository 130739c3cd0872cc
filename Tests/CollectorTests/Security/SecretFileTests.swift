// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("A file that holds a secret")
    struct SecretFileTests {
        /// What no message may hold: parts of the secrets below.
        private static let secret = ["BEGIN", "PRIVATE", "MIGHAgEAMBMGByqG", "sesame", "SESAME", "Sesame"]

        private static let secrets = [
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSESAMESESAMESESA
            sesamesesamesesamesesamesesamesesamesesamesesame
            -----END PRIVATE KEY-----

            """,
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,SESAME\n\nsesame==\n",
            "sesame0123456789abcdef\n",
            "sesame: open\n",
            "Sesame: open\n",
            "sesame/+==: [\n",
            "'sesame\n",
            "%sesame\n",
            "*sesame\n",
            "&sesame x: y\n",
            "!sesame x\n",
            "Sesame 1: a\nSesame 1: b\n",
            "[sesame, sesame\n",
            "@sesame\n",
            "\tsesame\n",
            "sesame: - sesame: {sesame\n",
            "\"\\sesame\"\n",
            "<<: sesame\n",
        ]

        private func messages(_ configuration: ServeConfiguration) -> [String] {
            SecurityCheck(configuration).problems.map(\.description)
        }

        /// Keys that look like keys are repeated, so that a slip of the pen is found.
        private func check(_ messages: [String], _ text: String, _ place: String) {
            #expect(!messages.isEmpty, "\(place) took \(text)")
            let isKey = text == "sesame: open\n"
            for message in messages where !isKey {
                for part in Self.secret { #expect(!message.contains(part), "\(place): \(message)") }
            }
            #expect(messages.allSatisfy { $0.utf8.count < 400 && !$0.contains("\n") })
        }

        @Test(
            "a secret is never repeated where it is given as a configuration, a web configuration or a token",
            arguments: secrets
        )
        func given(text: String) throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("token-a")
            try Files.write(Array(text.utf8), to: path)

            let reader = SettingsReader(environment: ["HOME": "/home"], file: path)
            let problems = #expect(throws: ConfigurationProblems.self) { try reader.read() }
            check(problems?.problems.map(\.description) ?? [], text, "the configuration")

            var web = ServeConfiguration(stateDirectory: "/")
            web.webConfigurationFile = path
            check(messages(web), text, "the web configuration")

            try Files.write(Array(("sesame " + text).utf8), to: path)
            var tokens = ServeConfiguration(stateDirectory: "/")
            tokens.credentialsDirectory = CredentialsDirectory(directory.path, mustHoldTokens: true)
            check(messages(tokens), "sesame " + text, "the tokens")
        }

        @Test(
            "a secret is never repeated where it stands at the place of a path, a certificate or a hash",
            arguments: secrets
        )
        func misplaced(text: String) throws {
            let certificates = try TestCertificates()
            let path = certificates.file("web.yml")
            let block = text.split(separator: "\n", omittingEmptySubsequences: false).map { "      \($0)\n" }.joined()
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.webConfigurationFile = path
            for place in [
                "tls_server_config:\n  cert_file: server.pem\n  key: |\n\(block)",
                "tls_server_config:\n  key_file: server.key\n  cert: |\n\(block)",
                "tls_server_config:\n  cert_file: server.pem\n  key_file: |\n\(block)",
                "basic_auth_users:\n  alice: |\n\(block)",
                "http_server_config:\n  headers:\n    Content-Security-Policy: |\n\(block)",
                "tls_server_config: |\n\(block)",
            ] {
                try Files.write(Array(place.utf8), to: path)
                check(messages(configuration), "", place)
            }
            for place in [
                "tls_server_config: {cert_file: server.pem, key: TEXT}",
                "tls_server_config: {key_file: server.key, cert: TEXT}",
                "tls_server_config: {cert_file: server.pem, key_file: TEXT}",
                "tls_server_config: {key_file: server.key, cert_file: TEXT}",
                "basic_auth_users: {alice: TEXT}", "basic_auth_users: TEXT", "tls_server_config: TEXT",
                "rate_limit: TEXT",
            ] {
                for secret in ["sesame0123456789abcdef", "Sesame/0123+abc=", "SESAME:sesame", "'sesame open'"] {
                    try Files.write(Array(place.replacing("TEXT", with: secret).utf8), to: path)
                    check(messages(configuration), "", place)
                }
            }
            for key in ["web-config", "credentials-dir", "state-dir"] {
                let file = certificates.file("config.yml")
                try Files.write(Array("\(key): |\n\(block)".utf8), to: file)
                let problems = #expect(throws: ConfigurationProblems.self) {
                    try SettingsReader(environment: ["HOME": "/home"], file: file).read()
                }
                check(problems?.problems.map(\.description) ?? [], "", key)
            }
        }
    }
}

@Suite("Watched files")
struct DebouncedChangeTests {
    @Test("a change is taken when it has stood still for one look, and once")
    func settledChangeSettled() {
        var change = DebouncedChange(used: 1)
        #expect([1, 2, 3, 3, 3, 3].map { change.look($0) } == [false, false, false, true, false, false])
    }

    @Test("what changed and changed back is no change")
    func back() {
        var change = DebouncedChange(used: 1)
        #expect([2, 1, 2, 1].map { change.look($0) } == [false, false, false, false])
        change.use(2)
        #expect([2, 1, 1].map { change.look($0) } == [false, false, true])
    }

    @Test("a file's stamp changes with its content, its place and its absence, and not by itself")
    func stamps() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a")
        let missing = FileStamp(path)
        try Files.write([1], to: path)
        let first = FileStamp(path)
        #expect(first != missing)
        #expect(FileStamp(path) == first)
        try Files.write([1, 2], to: path)
        #expect(FileStamp(path) != first)
        #expect(FileStamp(directory.file("b")) == missing)
    }
}
