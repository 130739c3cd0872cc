// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A collector's address")
struct CollectorURLTests {
    @Test(
        "a collector's address is a URL or a socket",
        arguments: [
            ("http://127.0.0.1:10910", "http://127.0.0.1:10910/v1/events", false),
            ("http://localhost/", "http://localhost/v1/events", false),
            ("https://example.org", "https://example.org/v1/events", true),
            ("HTTP://[::1]:9/in/v1", "HTTP://[::1]:9/in/v1", false),
            ("unix:/run/a b.sock", "http+unix://%2Frun%2Fa%20b.sock/v1/events", false),
            ("unix:///run/x.sock", "http+unix://%2Frun%2Fx.sock/v1/events", false),
            ("https+unix:/run/x.sock", "https+unix://%2Frun%2Fx.sock/v1/events", false),
            ("http://127.0.0.1.example.org", "http://127.0.0.1.example.org/v1/events", true),
        ]
    )
    func collectorURLForms(text: String, request: String, isRemote: Bool) throws {
        let url = try CollectorURL(text)
        #expect(url.request == request)
        #expect(url.isRemote == isRemote)
        #expect(url.isEncrypted == text.hasPrefix("https"))
        #expect((url.host == nil) == text.contains("unix:"))
    }

    @Test("a collector's address is asked for under another name where one is told")
    func named() throws {
        #expect(try CollectorURL("https://10.0.0.5:9/in").request(named: "a.example") == "https://a.example:9/in")
        #expect(try CollectorURL("https://[::1]").request(named: "a.example") == "https://a.example/v1/events")
        let socket = try CollectorURL("https+unix:/run/x.sock")
        #expect(socket.request(named: "a.example") == socket.request)
    }

    @Test("a collector's address has a server whose name is one, and no address")
    func serverNames() {
        for name in ["localhost", "a.example", "A-1.b2.example", "1.example"] {
            #expect(CollectorAccess.isServerName(name), "\(name)")
        }
        for name in ["", ".", "a.", "127.0.0.1", "::1", "a b", "a_b", "*.example", String(repeating: "x", count: 64)] {
            #expect(!CollectorAccess.isServerName(name), "\(name)")
        }
    }

    @Test(
        "a collector's address is shown a certificate for a name, whose first label may be any",
        arguments: [
            ("a.example", "a.example", true), ("A.example", "a.EXAMPLE", true), ("a.example", "b.example", false),
            ("*.example.org", "a.example.org", true), ("*.example.org", "a.b.example.org", false),
            ("*.example.org", "example.org", false), ("*.example.org", ".example.org", false),
            ("*.org", "example.org", false), ("*", "localhost", false), ("a.*.org", "a.b.org", false),
        ]
    )
    func collectorURLNames(pattern: String, name: String, isFitting: Bool) {
        #expect(ShownCertificate.fits(pattern, name) == isFitting)
    }

    @Test(
        "a collector's address is nothing else",
        arguments: [
            "", "127.0.0.1:10910", "example.org", "ftp://example.org", "http://", "http:///x", "http://host:0",
            "http://host:70000", "http://host/?a=1", "http://host/#a", "unix:", "unix:/", "http://ho st",
            "unix:/" + String(repeating: "x", count: 107), "https+unix:", "http+unix:/run/x.sock",
        ]
    )
    func collectorURLRefused(text: String) {
        #expect(throws: InvalidOption.self) { try CollectorURL(text) }
    }

    @Test("a collector's address with a password is refused without repeating it")
    func password() {
        let error = #expect(throws: InvalidOption.self) { try CollectorURL("http://someone:swordfish@host") }
        #expect(error?.description.contains("swordfish") == false)
    }

    @Test("a collector's address is asked with a secret of a file, whole and on one line")
    func secrets() throws {
        let directory = try TemporaryDirectory()
        func authorization(_ content: String, basic: Bool = false) throws -> String? {
            let file = directory.file("secret")
            try Files.write(Array(content.utf8), to: file)
            var access = CollectorAccess()
            if basic { access.basicAuthFile = file } else { access.tokenFile = file }
            return try access.authorization(credentials: nil)
        }
        #expect(try authorization("swordfish-0123456789\n") == "Bearer swordfish-0123456789")
        #expect(try authorization("name:pass word\r\n", basic: true) == "Basic bmFtZTpwYXNzIHdvcmQ=")
        for content in [
            "", "\n", "two\nlines", "tab\there", "space here", "nul\0", String(repeating: "x", count: 8_193),
        ] {
            let error = #expect(throws: InvalidOption.self) { try authorization(content) }
            #expect(content.count < 3 || error?.description.contains(content) == false)
        }
        #expect(throws: InvalidOption.self) { try authorization("no colon", basic: true) }
        try Files.write(Array("from-the-directory\n".utf8), to: directory.file("token"))
        let directoryPath = String(directory.file("token").dropLast("/token".count))
        #expect(try CollectorAccess().authorization(credentials: directoryPath) == "Bearer from-the-directory")
        #expect(try CollectorAccess().authorization(credentials: directoryPath + "/none") == nil)
        var missing = CollectorAccess()
        missing.tokenFile = directory.file("missing")
        #expect(throws: InvalidOption.self) { try missing.authorization(credentials: directoryPath) }
    }
}

@Suite("A header that is sent along")
struct SendHeaderTests {
    private func problem(_ texts: [String]) -> String? {
        do throws(InvalidOption) {
            _ = try SendHeader.all(texts)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("a header to send along is a name and a value")
    func sendHeaderGood() throws {
        let headers = try SendHeader.all(["X-Installation: 0123456789abcdef", "x:y: z"])
        #expect(headers.map(\.name) == ["X-Installation", "x"])
        #expect(headers.map(\.value) == ["0123456789abcdef", "y: z"])
    }

    @Test(
        "a header to send along is refused when it could end a line, holds a secret, or is one of our own",
        arguments: [
            "", "X-Installation", ": a", "a b: c", "a: b\r\nc: d", "a: \u{0}", "Authorization: Bearer x",
            "content-LENGTH: 1", "Idempotency-Key: k", "a: " + String(repeating: "b", count: 1_024),
        ]
    )
    func sendHeaderBad(text: String) {
        #expect(problem([text]) != nil)
    }

    @Test("a header to send along may come 16 times")
    func count() {
        #expect(problem((0..<16).map { "a\($0): b" }) == nil)
        #expect(problem((0..<17).map { "a\($0): b" }) == "expected at most 16 headers, found 17")
    }
}
