// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("health and send with credentials")
struct SecureAccessTests {
    private struct Fixture {
        let service: Service
        let authority: CertificateAuthority
        let web: WebConfigurationFile
        let directory: String

        var socket: String { "https+unix:\(directory)/http.sock" }
        var address: String { get async { "https://127.0.0.1:\(await service.client.port)" } }

        /// The credentials.
        var known: [String] {
            let own = ["--cert", authority.file("known.pem"), "--key", authority.file("known.key")]
            return ["--ca", authority.file("ca.pem"), "--basic-auth-file", "\(directory)/alice"] + own
        }
    }

    private static let sample = Sample.path("events/full-cycle.ndjson")

    /// A service on TCP and a Unix socket, with TLS and more options.
    private func with(_ tls: String, users: Bool, _ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let authority = try await CertificateAuthority(in: directory)
            try await authority.sign("known", names: "DNS:client.example")
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
            }
            try write("alice", "alice:wonderland\n")
            try write("wrong", "alice:looking-glass\n")
            let pair = "cert_file: server.pem, key_file: server.key"
            let people =
                users ? "basic_auth_users: {alice: \(try await WebConfigurationFile.hash("wonderland"))}\n" : ""
            let web = try WebConfigurationFile("tls_server_config: {\(pair)\(tls)}\n\(people)", in: directory)
            let options = ["--web-config", web.path, "--listen", "unix:\(directory)/http.sock"]
            try await withService(options: options, asksWhetherReady: false) { service in
                try await body(
                    Fixture(service: service, authority: authority, web: web, directory: directory)
                )
            }
        }
    }

    private func ask(_ words: [String]) async throws -> Command {
        try await Command.run([Service.binary()] + words)
    }

    private static let clientCertificates = ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem"

    @Test("health and send with a certificate and a password file are accepted over TCP and a Unix socket")
    func secureAccessKnown() async throws {
        try await with(Self.clientCertificates, users: true) { fixture in
            for (number, url) in [await fixture.address, fixture.socket].enumerated() {
                let health = try await ask(["health", "--url", url] + fixture.known)
                #expect(health.text == "ready\n" && health.status == .code(0))
                let sent = try await ask(["send", Self.sample, "--to", url] + fixture.known)
                #expect(sent.status == .code(0), "\(sent.error)")
                #expect(
                    sent.text == (number == 0 ? "5 accepted, 0 duplicate" : "0 accepted, 5 duplicate")
                        + ", 0 rejected\n"
                )
                #expect(sent.error == "")
            }
        }
    }

    @Test(
        "health and send with missing, wrong or foreign credentials say what is missing, over TCP and a Unix socket"
    )
    func secureAccessUnknown() async throws {
        try await with(Self.clientCertificates, users: true) { fixture in
            let other = "\(fixture.directory)/other"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            let stranger = try await CertificateAuthority(in: other)
            try await stranger.sign("known", names: "DNS:client.example")
            let strange = ["--cert", stranger.file("known.pem"), "--key", stranger.file("known.key")]
            func changed(_ option: String, to value: String?) -> [String] {
                var options = fixture.known
                guard let place = options.firstIndex(of: option) else { return options }
                if let value { options[place + 1] = value } else { options.removeSubrange(place...(place + 1)) }
                return options
            }
            let cases = [
                (changed("--ca", to: stranger.file("ca.pem")), "its certificate is not trusted"),
                (changed("--basic-auth-file", to: "\(fixture.directory)/wrong"), "HTTP 401"),
                (changed("--basic-auth-file", to: nil), "HTTP 401"),
                (["--ca", fixture.authority.file("ca.pem")], "client's certificate"),
                (
                    fixture.known + ["--server-name", "other.example"],
                    "expected one for other.example as its certificate, found another one"
                ),
                (changed("--cert", to: stranger.file("server.pem")), "as the key of the certificate"),
                (["--ca", fixture.authority.file("ca.pem")] + strange, "client's certificate"),
            ]
            for url in [await fixture.address, fixture.socket] {
                for (options, reason) in cases {
                    let health = try await ask(["health", "--url", url] + options)
                    #expect(health.status == .code(1))
                    let sent = try await ask(["send", Self.sample, "--to", url, "--retry-for", "0s"] + options)
                    #expect(sent.status == .code(reason.hasPrefix("as the key") ? 64 : 3))
                    #expect(health.text.contains(reason), "\(health.text)")
                    #expect(sent.error.contains(reason), "\(sent.error)")
                    #expect(!(health.text + health.error + sent.error).contains("looking-glass"))
                }
            }
        }
    }

    @Test("health and send accept a configured server name of the certificate, over TCP and a Unix socket")
    func secureAccessServerName() async throws {
        try await with("", users: false) { fixture in
            let ca = ["--ca", fixture.authority.file("ca.pem")]
            for url in [await fixture.address, fixture.socket] {
                for options in [ca, ca + ["--server-name", "localhost"]] {
                    let health = try await ask(["health", "--url", url] + options)
                    #expect(health.text == "ready\n", "\(url) \(options)")
                }
            }
            let clear = try await ask(["health", "--url", "http://127.0.0.1:1", "--server-name", "localhost"])
            #expect(clear.text.contains("expected --server-name with https://"))
            let plain = try await ask(["health", "--url", fixture.socket.replacing("https+", with: "")])
            #expect(plain.text.contains("found HTTP 400") && plain.text.contains("use https"), "\(plain.text)")
            for name in ["127.0.0.1", "a b", "", "a..b"] {
                let wrong = try await ask(["health", "--url", fixture.socket, "--server-name", name])
                #expect(wrong.status == .code(64), "\(name)")
            }
        }
    }

    @Test("health without a URL expects the certificate of the settings, whoever signed it, and no other")
    func secureAccessOwnCertificate() async throws {
        try await with("", users: false) { fixture in
            let port = await fixture.service.client.port
            let file = "\(fixture.directory)/config.yml"
            for listen in ["'127.0.0.1:\(port)'", "'unix:\(fixture.directory)/http.sock'"] {
                try Data("listen: \(listen)\nweb-config: \(fixture.web.path)\n".utf8)
                    .write(to: URL(fileURLWithPath: file))
                let health = try await ask(["health", "--config", file])
                #expect(health.text == "ready\n", "\(health.error)")
            }
            try await fixture.authority.sign("next", names: "DNS:localhost,IP:127.0.0.1", use: "serverAuth")
            let other = "\(fixture.directory)/other.yml"
            try Data("tls_server_config: {cert_file: next.pem, key_file: next.key}\n".utf8)
                .write(to: URL(fileURLWithPath: other))
            let script =
                "DNP_TELEMETRY_LISTEN='127.0.0.1:\(port)' DNP_TELEMETRY_WEB_CONFIG='\(other)' exec \"$0\" health"
            let stranger = try await Command.run(["/bin/sh", "-c", script, Service.binary()])
            #expect(stranger.status == .code(1))
            #expect(
                stranger.text.contains("expected the one that its web configuration names as its certificate"),
                "\(stranger.text)"
            )
            let trusted = try await Command.run([
                "/bin/sh", "-c", script + " --ca '\(fixture.authority.file("ca.pem"))'", Service.binary(),
            ])
            #expect(trusted.text == "ready\n")
            try Data("tls_server_config: {cert_file: gone.pem, key_file: gone.key}\n".utf8)
                .write(to: URL(fileURLWithPath: other))
            let gone = try await Command.run(["/bin/sh", "-c", script, Service.binary()])
            #expect(gone.text.hasPrefix("not ready: the web configuration cannot be read: "), "\(gone.text)")
        }
    }
}
