// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("Origins of web pages")
struct WebOriginTests {
    @Test(
        "an origin is a scheme, a host and a port in one spelling",
        arguments: [
            ("https://app.example.org", "https://app.example.org"),
            ("HTTPS://App.Example.org", "https://app.example.org"),
            ("https://app.example.org:443", "https://app.example.org"), ("http://app:8100", "http://app:8100"),
            ("http://app:80", "http://app"), ("https://app:80", "https://app:80"),
            ("capacitor://localhost", "capacitor://localhost"), ("ionic://localhost", "ionic://localhost"),
            ("http://[::1]:8100", "http://[::1]:8100"),
        ]
    )
    func spellings(text: String, expected: String) throws {
        #expect(try WebOrigin.allowed(text).description == expected)
    }

    @Test(
        "a wildcard, null, paths and anything else are no origins",
        arguments: [
            "*", "null", "", "https://", "https://*", "https://*.example.org", "example.org", "https://a/",
            "https://a/b",
            "https://a b", "https://a:0", "https://a:x", "https://a:+1", "https://a:65536", "://a", "1://a",
            "https://u@a",
            "https://a\r\nX: y", "https://\u{E4}.example", "file://", "https://[a",
            "https://" + String(repeating: "a", count: 600),
        ]
    )
    func others(text: String) {
        #expect(WebOrigin(text) == nil)
        let error = #expect(throws: SettingError.self) { try WebOrigin.allowed(text) }
        #expect(error?.message.hasPrefix("expected an origin such as https://app.example.org") == true)
    }

    @Test("a request is of a page of its own host where host and port are the same")
    func sameHost() throws {
        let page = try WebOrigin.allowed("https://telemetry.example.org")
        #expect(page.isSame(asHost: "telemetry.example.org") && page.isSame(asHost: "Telemetry.example.org:443"))
        for host in [nil, "", "telemetry.example.org:8443", "example.org", "telemetry.example.org.evil.example"] {
            #expect(!page.isSame(asHost: host), "\(host ?? "none")")
        }
    }
}
