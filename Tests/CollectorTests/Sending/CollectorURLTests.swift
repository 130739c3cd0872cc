// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("A collector's address")
struct CollectorURLTests {
    @Test(
        "is a URL or a socket",
        arguments: [
            ("http://127.0.0.1:10910", "http://127.0.0.1:10910/v1/events", false),
            ("http://localhost/", "http://localhost/v1/events", false),
            ("https://example.org", "https://example.org/v1/events", true),
            ("HTTP://[::1]:9/in/v1", "HTTP://[::1]:9/in/v1", false),
            ("unix:/run/a b.sock", "http+unix://%2Frun%2Fa%20b.sock/v1/events", false),
            ("unix:///run/x.sock", "http+unix://%2Frun%2Fx.sock/v1/events", false),
        ]
    )
    func forms(text: String, request: String, isRemote: Bool) throws {
        let url = try CollectorURL(text)
        #expect(url.request == request)
        #expect(url.isRemote == isRemote)
        #expect(url.isEncrypted == text.hasPrefix("https"))
    }

    @Test(
        "is nothing else",
        arguments: [
            "", "127.0.0.1:10910", "example.org", "ftp://example.org", "http://", "http:///x", "http://host:0",
            "http://host:70000", "http://host/?a=1", "http://host/#a", "unix:", "unix:/", "http://ho st",
            "unix:/" + String(repeating: "x", count: 107),
        ]
    )
    func refused(text: String) {
        #expect(throws: UnknownOption.self) { try CollectorURL(text) }
    }

    @Test("with a password is refused without repeating it")
    func password() {
        let error = #expect(throws: UnknownOption.self) { try CollectorURL("http://someone:swordfish@host") }
        #expect(error?.description.contains("swordfish") == false)
    }

    @Test("is asked with a secret of a file, whole and on one line")
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
            let error = #expect(throws: UnknownOption.self) { try authorization(content) }
            #expect(content.count < 3 || error?.description.contains(content) == false)
        }
        #expect(throws: UnknownOption.self) { try authorization("no colon", basic: true) }
        try Files.write(Array("from-the-directory\n".utf8), to: directory.file("token"))
        let directoryPath = String(directory.file("token").dropLast("/token".count))
        #expect(try CollectorAccess().authorization(credentials: directoryPath) == "Bearer from-the-directory")
        #expect(try CollectorAccess().authorization(credentials: directoryPath + "/none") == nil)
        var missing = CollectorAccess()
        missing.tokenFile = directory.file("missing")
        #expect(throws: UnknownOption.self) { try missing.authorization(credentials: directoryPath) }
    }
}
