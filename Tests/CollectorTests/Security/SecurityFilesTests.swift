// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Collector

private let pair = "cert_file: server.pem, key_file: server.key"
private let verified = "client_auth_type: RequireAndVerifyClientCert"

extension OneAtATime {
    @Suite("The files that say who may do what")
    struct SecurityFilesTests {
        private let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
        private let token = "0123456789abcdef"

        private func write(_ text: String, _ path: String) throws {
            try Files.write(Array(text.utf8), to: path)
        }

        @Test("security files are taken at the second look at a change, and not again")
        func change() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("web.yml")
            try write("basic_auth_users: {a: \(hash)}", path)
            var files = try SecurityFiles(webConfiguration: path, credentials: nil)
            #expect(files.look().isEmpty)
            try write("basic_auth_users: {b: \(hash), c: \(hash)}", path)
            #expect(files.look().isEmpty)
            #expect(files.rules.web.users.keys.sorted() == ["a"])
            #expect(files.look().map(\.problem) == [nil])
            #expect(files.rules.web.users.keys.sorted() == ["b", "c"])
            #expect(files.look().isEmpty)
        }

        @Test(
            "security files that are broken, empty or gone leave the rules as they were, and are told of once",
            arguments: ["basic_auth_users: {a: secret}", "basic_auth_user: {}", "[", "", "# nothing\n", nil]
        )
        func broken(text: String?) throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("web.yml")
            try write("basic_auth_users: {a: \(hash)}", path)
            var files = try SecurityFiles(webConfiguration: path, credentials: nil)
            if let text { try write(text, path) } else { try FileManager.default.removeItem(atPath: path) }
            let readings = (0..<5).flatMap { _ in files.look() }
            #expect(readings.count == 1)
            #expect(readings.first?.problem != nil)
            #expect(readings.first?.problem?.description.contains(directory.file("web.yml")) == true)
            #expect(files.rules.web.users.count == 1)
            try write("basic_auth_users: {b: \(hash)}", path)
            #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
            #expect(files.rules.web.users.keys.sorted() == ["b"])
        }

        @Test(
            "security files that would let in whom they keep out leave the rules as they were, until a restart",
            arguments: [
                ("basic_auth_users: {a: HASH}", "{}", "basic_auth_users"),
                ("basic_auth_users: {a: HASH}", "basic_auth_users: {}", "basic_auth_users"),
                ("basic_auth_users: {a: HASH}", "rate_limit: {interval: 1s, burst: 9}", "basic_auth_users"),
                ("tls_server_config: {\(pair)}", "{}", "tls_server_config"),
                ("tls_server_config: {\(pair), \(verified)}", "tls_server_config: {\(pair)}", "client_auth_type"),
                (
                    "tls_server_config: {\(pair), \(verified)}",
                    "tls_server_config: {\(pair), client_auth_type: VerifyClientCertIfGiven}", "client_auth_type"
                ),
                (
                    "tls_server_config: {\(pair), \(verified)}",
                    "tls_server_config: {\(pair), client_auth_type: RequireAnyClientCert}", "client_auth_type"
                ),
                (
                    "tls_server_config: {\(pair), client_auth_type: RequireAnyClientCert}",
                    "tls_server_config: {\(pair), client_auth_type: RequestClientCert}", "client_auth_type"
                ),
                (
                    "tls_server_config: {\(pair), \(verified), client_allowed_sans: [a]}",
                    "tls_server_config: {\(pair), \(verified)}", "client_allowed_sans"
                ),
                (
                    "tls_server_config: {\(pair), \(verified), client_ca_file: server.pem}",
                    "tls_server_config: {\(pair), \(verified)}", "client_ca_file"
                ),
            ]
        )
        func loosened(before: String, after: String, key: String) throws {
            let certificates = try TestCertificates()
            let path = certificates.file("web.yml")
            try write(before.replacing("HASH", with: hash), path)
            var files = try SecurityFiles(webConfiguration: path, credentials: nil)
            let rules = files.rules
            try write(after, path)
            for problem in (0..<3).flatMap({ _ in files.look() }).map(\.problem) + files.reread().map(\.problem) {
                #expect(problem?.origin.description == path)
                #expect(problem?.message.contains(key) == true)
                #expect(problem?.message.contains("only a restart") == true)
                #expect(problem?.message.contains("that of an upgrade too: restore the file first") == true)
            }
            #expect(files.rules.web.users == rules.web.users)
            #expect(files.rules.web.tls == rules.web.tls)
            #expect(files.rules.tls?.context === rules.tls?.context)
            #expect(try SecurityFiles(webConfiguration: path, credentials: nil).rules.web.users.isEmpty)
        }

        @Test(
            "security files that ask for as much as before, or for more, are taken",
            arguments: [
                ("basic_auth_users: {a: HASH, b: HASH}", "basic_auth_users: {c: HASH}"),
                ("{}", "basic_auth_users: {c: HASH}"),
                ("{}", "tls_server_config: {\(pair), \(verified), client_ca_file: server.pem}"),
                ("tls_server_config: {\(pair), client_auth_type: RequestClientCert}", "tls_server_config: {\(pair)}"),
                (
                    "tls_server_config: {\(pair), client_auth_type: RequireAnyClientCert}",
                    "tls_server_config: {\(pair), \(verified)}"
                ),
                (
                    "tls_server_config: {\(pair), \(verified), client_allowed_sans: [a], client_ca_file: server.pem}",
                    "tls_server_config: {\(pair), \(verified), client_allowed_sans: [b], client_ca_file: other.pem}"
                ),
            ]
        )
        func tightened(before: String, after: String) throws {
            let certificates = try TestCertificates()
            let path = certificates.file("web.yml")
            try write(before.replacing("HASH", with: hash), path)
            var files = try SecurityFiles(webConfiguration: path, credentials: nil)
            try write(after.replacing("HASH", with: hash), path)
            #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
            let fresh = try SecurityFiles(webConfiguration: path, credentials: nil).rules.web
            #expect(files.rules.web.tls == fresh.tls && files.rules.web.users == fresh.users)
        }

        @Test(
            "security files that name a certificate are taken anew when it or its key changes, once both belong together"
        )
        func certificates() throws {
            let certificates = try TestCertificates()
            let path = certificates.file("web.yml")
            try write("tls_server_config: {cert_file: server.pem, key_file: server.key}", path)
            var files = try SecurityFiles(webConfiguration: path, credentials: nil)
            let first = try #require(files.rules.tls?.context)
            try Files.write(try Files.read(certificates.file("other.pem")), to: certificates.file("server.pem"))
            #expect((0..<2).flatMap { _ in files.look() }.map { $0.problem != nil } == [true])
            #expect(files.rules.tls?.context === first)
            try Files.write(try Files.read(certificates.file("other.key")), to: certificates.file("server.key"))
            #expect((0..<2).flatMap { _ in files.look() }.map { $0.problem != nil } == [false])
            #expect(files.rules.tls.map { $0.context !== first } == true)
            try write("{}", path)
            let problem = (0..<2).flatMap { _ in files.look() }.first?.problem
            #expect(problem?.message.contains("only a restart turns TLS off") == true)
            #expect(files.rules.tls != nil)
        }

        @Test("security files give tokens that come and go; once there were some, events need one for good")
        func securityFilesTokens() throws {
            let directory = try TemporaryDirectory()
            var files = try SecurityFiles(
                webConfiguration: nil,
                credentials: CredentialsDirectory(directory.path, mustHoldTokens: false)
            )
            #expect(!files.rules.needsToken)
            try write(token, directory.file("token-a"))
            #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
            #expect(files.rules.needsToken)
            #expect(files.rules.tokens.name(of: Array(token.utf8)) == "a")
            try write("short", directory.file("token-b"))
            #expect(
                (0..<3).flatMap { _ in files.look() }.compactMap { $0.problem?.origin.description } == [
                    directory.file("token-b")
                ]
            )
            #expect(files.rules.tokens.names == ["a"])
            for name in ["token-a", "token-b"] { try FileManager.default.removeItem(atPath: directory.file(name)) }
            #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
            #expect(files.rules.tokens.isEmpty)
            #expect(files.rules.needsToken)
        }

        @Test("security files hold a token where a directory was told for them; without one nothing starts")
        func told() throws {
            let directory = try TemporaryDirectory()
            try write("of something else", directory.file("tls.key"))
            let told = CredentialsDirectory(directory.path, mustHoldTokens: true)
            let refusal = #expect(throws: ConfigurationProblem.self) {
                try SecurityFiles(webConfiguration: nil, credentials: told)
            }
            #expect(refusal?.origin == .file(directory.path, line: nil))
            #expect(
                refusal?.message.hasPrefix("expected a token in a file token-NAME, found none; put one there") == true
            )
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.credentialsDirectory = told
            #expect(SecurityCheck(configuration).problems == [refusal])
            try write(token, directory.file("token-a"))
            #expect(SecurityCheck(configuration).problems == [])
            var files = try SecurityFiles(webConfiguration: nil, credentials: told)
            try FileManager.default.removeItem(atPath: directory.file("token-a"))
            #expect(files.reread().map(\.problem) == [nil], "the last token can be taken back")
            #expect(files.rules.tokens.isEmpty && files.rules.needsToken)
        }

        @Test(
            "security files are taken all or none when all are read at once; what could be read is taken at its own look"
        )
        func allOrNone() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("web.yml")
            try write("basic_auth_users: {a: \(hash)}", path)
            try write(token, directory.file("token-a"))
            var files = try SecurityFiles(
                webConfiguration: path,
                credentials: CredentialsDirectory(directory.path, mustHoldTokens: true)
            )
            try write("basic_auth_users: {other: \(hash)}", path)
            try write("short", directory.file("token-b"))
            let readings = files.reread()
            #expect(readings.map(\.subject) == [.tokens])
            #expect(readings.first?.problem?.origin.description == directory.file("token-b"))
            #expect(files.rules.web.users.keys.sorted() == ["a"])
            #expect((0..<3).flatMap { _ in files.look() }.map(\.subject) == [.webConfiguration])
            #expect(files.rules.web.users.keys.sorted() == ["other"])

            try write("basic_auth_users: {c: short}", path)
            try write(token + "b", directory.file("token-b"))
            #expect(files.reread().map(\.subject) == [.webConfiguration])
            #expect(files.rules.tokens.names == ["a"])
            #expect((0..<3).flatMap { _ in files.look() }.map(\.subject) == [.tokens])
            #expect(files.rules.tokens.names == ["a", "b"])
        }

        @Test("security files that are wrong are all named by a check, each once")
        func securityFilesAllProblems() throws {
            let directory = try TemporaryDirectory()
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.webConfigurationFile = directory.file("web.yml")
            configuration.credentialsDirectory = CredentialsDirectory(directory.path, mustHoldTokens: true)
            func named() -> [String] { SecurityCheck(configuration).problems.map(\.origin.description) }
            try write("short", directory.file("token-a"))
            #expect(named() == ["web.yml", "token-a"].map(directory.file))
            try write("{}", directory.file("web.yml"))
            #expect(named() == [directory.file("token-a")])
            try write(token, directory.file("token-a"))
            #expect(named() == [])
        }

        @Test("security files that look mistaken beside the settings are warned of")
        func warnings() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("web.yml")
            try write("http_server_config: {http2: true}", path)
            try write(token, directory.file("token-ios"))
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.webConfigurationFile = path
            configuration.credentialsDirectory = CredentialsDirectory(directory.path, mustHoldTokens: true)
            configuration.tokenLimits = ["ios": 1, "iosx": 2, "android": 3]
            let expected = [
                "--token-limit: expected the name of a token, found \"android\"",
                "--token-limit: expected the name of a token, found \"iosx\"; did you mean ios?",
                "\(path): http2: ignored, only HTTP/1.1 is supported",
            ]
            #expect(SecurityCheck(configuration).warnings.map(\.description) == expected)
            #expect(SecurityCheck(configuration).problems == [])
        }

        @Test("a handed-over directory of other files is warned of, and limits for tokens are wrong without any token")
        func noTokens() throws {
            let directory = try TemporaryDirectory()
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.credentialsDirectory = CredentialsDirectory(directory.path, mustHoldTokens: false)
            func warned() -> [String] { SecurityCheck(configuration).warnings.map(\.description) }
            func wrong() -> [String] { SecurityCheck(configuration).problems.map(\.description) }
            try write("x", directory.file(".hidden"))
            #expect(warned() == [] && wrong() == [])
            try write(token, directory.file("ios"))
            let names = "expected a token in a file token-NAME, found files of other names only; events need no token"
            #expect(warned() == ["\(directory.path): \(names)"])
            #expect(wrong() == [])

            configuration.tokenLimits = ["ios": 1]
            let limits = "--token-limit: expected tokens beside it, in files token-NAME, found none"
            #expect(wrong() == ["\(limits) in \(directory.path)"])
            try write(token, directory.file("token-ios"))
            #expect(warned() == [] && wrong() == [])
            configuration.credentialsDirectory = nil
            #expect(wrong() == ["\(limits); credentials-dir names their directory"])
        }

        @Test("security files that everybody can read are warned of where they are secrets")
        func exposed() throws {
            let certificates = try TestCertificates()
            let (web, key, token) = (
                certificates.file("web.yml"), certificates.file("server.key"), certificates.file("token-a")
            )
            try Files.write(Array("tls_server_config: {\(pair)}".utf8), to: web, mode: 0o644)
            try Files.write(Array(self.token.utf8), to: token, mode: 0o640)
            var configuration = ServeConfiguration(stateDirectory: "/")
            configuration.webConfigurationFile = web
            configuration.credentialsDirectory = CredentialsDirectory(certificates.path, mustHoldTokens: true)
            func warned() -> [String] { SecurityCheck(configuration).warnings.map(\.description) }
            func chmod(_ path: String, _ mode: Int) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            try chmod(key, 0o600)
            try chmod(certificates.path, 0o755)
            #expect(warned() == [])
            for path in [token, key] { try chmod(path, 0o644) }
            let exposed =
                "everybody on this machine can read it; set its mode (chmod o-r, or defaultMode of the secret)"
            #expect(warned() == [token, key].map { "\($0): \(exposed)" })
            try chmod(certificates.path, 0o750)
            #expect(warned() == [], "nobody gets to them")
            try chmod(certificates.path, 0o755)
            for path in [token, key] { try chmod(path, 0o600) }
            let inline = "  cert_file: server.pem\n  key: |\n\(try certificates.indented("server.key"))"
            try Files.write(Array("tls_server_config:\n\(inline)".utf8), to: web, mode: 0o644)
            #expect(warned() == ["\(web): \(exposed)"])
        }

        @Test("security files are read at once when asked to")
        func reread() throws {
            let directory = try TemporaryDirectory()
            let path = directory.file("web.yml")
            try write("{}", path)
            var files = try SecurityFiles(
                webConfiguration: path,
                credentials: CredentialsDirectory(directory.path, mustHoldTokens: false)
            )
            try write("basic_auth_users: {a: \(hash)}", path)
            try write(token, directory.file("token-a"))
            #expect(files.reread().map(\.problem) == [nil, nil])
            #expect(files.rules.needsToken && files.rules.web.users.count == 1)
            #expect((0..<3).flatMap { _ in files.look() }.isEmpty)
        }
    }
}
