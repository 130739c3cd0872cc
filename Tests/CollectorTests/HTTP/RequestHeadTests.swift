// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import NIOCore
import Testing

@testable import Collector

@Suite("Hosts and methods in a request's head")
struct RequestHeadFieldTests {
    @Test(
        "a Host is a name or an address with or without a port, by its characters",
        arguments: [
            "", "x", "localhost:10910", "127.0.0.1", "[::1]", "[::1]:80", "a_b.example.org:", "%2Frun%2Fhttp.sock",
            "a:0",
        ]
    )
    func hosts(value: String) {
        #expect(RequestHeadFields.isHost(value))
    }

    @Test(
        "anything else is no Host",
        arguments: [
            "a b", "a, b", "a/b", "user@host", "a:b", "a:1:2", "a:123456", "[::1", "[]", "::1", "[::1]x", "a?b", "a#b",
            "\"a\"", "é", "a\u{7F}", "<a>", "a\\b",
        ]
    )
    func noHosts(value: String) {
        #expect(!RequestHeadFields.isHost(value))
    }

    @Test("the first line of a request by an unknown method is read only where it is one")
    func unknownMethodLine() {
        func target(_ text: String) -> Substring? { UnknownMethodLine(ByteBuffer(string: text))?.target }
        #expect(target("BREW /metrics?a=b HTTP/1.1\r\nHost: x\r\n\r\n") == "/metrics?a=b")
        #expect(target("x-brew / HTTP/1.0\n") == "/")
        for text in [
            "", "BREW", "BREW /metrics HTTP/1.1", "BREW /metrics\r\n", " /metrics HTTP/1.1\r\n", "BREW  HTTP/1.1\r\n",
            "BREW /metrics HTTP/2.0\r\n", "BREW metrics HTTP/1.1\r\n", "\u{16}\u{3} / HTTP/1.1\r\n",
            "B,W / HTTP/1.1\r\n",
            "BREW / /b HTTP/1.1\r\n", String(repeating: "B", count: 33) + " / HTTP/1.1\r\n",
            "BREW /\(String(repeating: "x", count: 2_000)) HTTP/1.1\r\n",
        ] {
            #expect(target(text) == nil, "\(text)")
        }
    }
}

extension OneAtATime {
    @Suite("Heads of requests", .timeLimit(.minutes(2)))
    struct RequestHeadTests {
        /// A head without its last line, what it is answered, and whether the connection ends with that.
        struct Head: Sendable, CustomTestStringConvertible {
            let head: String
            let status: Int
            let type: String?
            let isLast: Bool
            var testDescription: String { "\(status) \(head.prefix(120).replacingOccurrences(of: "\r\n", with: "|"))" }

            init(_ head: String, _ status: Int, _ type: String? = nil, isLast: Bool? = nil) {
                self.head = head
                self.status = status
                self.type = type
                self.isLast = isLast ?? (status != 200)
            }
        }

        private static let post = "POST /v1/events HTTP/1.1\r\nHost: x\r\n"
        private static let get = "GET /metrics HTTP/1.1\r\n"

        static let heads: [Head] = [
            // Hosts.
            Head("GET /metrics HTTP/1.1\r\n", 400, "host"),
            Head("GET /-/healthy HTTP/1.1\r\nX-Host: x\r\n", 400, "host"),
            Head("POST /v1/events HTTP/1.1\r\nContent-Length: 0\r\n", 400, "host"),
            Head("\(get)Host: x\r\nHost: x\r\n", 400, "host"),
            Head("\(get)Host: x\r\nhOST: y\r\n", 400, "host"),
            Head("\(get)Host: x y\r\n", 400, "host"),
            Head("\(get)Host: http://x\r\n", 400, "host"),
            Head("GET /metrics HTTP/1.0\r\n", 200, isLast: true),
            Head("GET /metrics HTTP/1.0\r\nHost: x\r\n", 200, isLast: true),
            Head("GET /metrics HTTP/1.0\r\nHost: x\r\nHost: x\r\n", 400, "host"),
            Head("\(get)Host:\r\n", 200),
            Head("\(get)host: [::1]:10910 \r\n", 200),
            // Lengths.
            Head("\(post)Content-Length: 9223372036854775808\r\nExpect: 100-continue\r\n", 413, "body-too-large"),
            Head("\(post)Content-Length: 18446744073709551615\r\nExpect: 100-continue\r\n", 413, "body-too-large"),
            Head("\(post)Content-Length: 18446744073709551616\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: \(String(repeating: "9", count: 300))\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 9223372036854775807\r\nExpect: 100-continue\r\n", 413, "body-too-large"),
            Head("\(get)Host: x\r\nContent-Length: 9223372036854775808\r\nExpect: 100-continue\r\n", 413),
            Head("\(post)Content-Length: -1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: +1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 1, 1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 1 1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 0x1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 1.0\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length:\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n", 400),
            Head("\(post)Content-Length: 1\r\ncontent-length: 2\r\nExpect: 100-continue\r\n", 400),
            Head("\(get)Host: x\r\nContent-Length: 000\r\n", 200),
            // Transfer codings.
            Head("\(post)Transfer-Encoding: gzip, chunked\r\nExpect: 100-continue\r\n", 501, "transfer-coding"),
            Head("\(post)Transfer-Encoding: brew\r\nExpect: 100-continue\r\n", 501, "transfer-coding"),
            Head("\(post)Transfer-Encoding: identity\r\n", 501, "transfer-coding"),
            Head("\(post)Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501, "transfer-coding"),
            Head("\(get)Host: x\r\nTransfer-Encoding: xchunked\r\n", 501, "transfer-coding"),
            Head("\(post)Transfer-Encoding: chunked, gzip\r\n", 400),
            Head("\(post)Transfer-Encoding: chunked, chunked\r\n", 400),
            Head("\(post)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
            Head("\(post)Transfer-Encoding: \r\n", 400),
            Head("\(post)Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400),
            Head("\(post)Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
            Head("\(post)Content-Length: 1\r\nTransfer-Encoding: brew\r\n", 400),
            Head("POST /v1/events HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", 400),
            // Versions and upgrades.
            Head("GET /metrics HTTP/2.0\r\nHost: x\r\n", 505, "version"),
            Head("GET /metrics HTTP/9.9\r\nHost: x\r\n", 505, "version"),
            Head("\(get)Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", 200, isLast: true),
            // Methods.
            Head("OPTIONS /metrics HTTP/1.1\r\nHost: x\r\n", 405, isLast: false),
            Head("TRACE /-/healthy HTTP/1.1\r\nHost: x\r\n", 405, isLast: false),
            Head("PROPFIND /v1/events HTTP/1.1\r\nHost: x\r\n", 405, isLast: false),
            Head("QUERY /v1/events HTTP/1.1\r\nHost: x\r\n", 405, isLast: false),
            Head("GET /v1/events HTTP/1.1\r\nHost: x\r\n", 405, isLast: false),
            Head("OPTIONS * HTTP/1.1\r\nHost: x\r\n", 404, isLast: false),
            Head("OPTIONS /no HTTP/1.1\r\nHost: x\r\n", 404, isLast: false),
            Head("CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n", 404),
            Head("BREW /metrics HTTP/1.1\r\nHost: x\r\n", 405),
            Head("brew /v1/events?a HTTP/1.1\r\nHost: x\r\n", 405),
            Head("BREW /no HTTP/1.1\r\nHost: x\r\n", 404),
        ]

        @Test("a head that HTTP/1.1 forbids is refused at once and never asked for its body", arguments: heads)
        func forbiddenHead(_ head: Head) async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send(head.head + "\r\n")
                let answer = try await client.receive {
                    $0.contains("\r\n\r\n") && (head.status == 200 || $0.hasSuffix("}\n"))
                }
                #expect(HTTPText.statuses(answer) == [head.status], "\(answer)")
                if let type = head.type { #expect(answer.contains("problem:\(type)\"")) }
                if head.status == 405 { #expect(answer.contains("Allow: ")) }
                #expect(answer.lowercased().contains("connection: close\r\n") == head.isLast)
                if head.isLast {
                    _ = try await client.receiveAll()
                } else {
                    client.send(HTTPText.post("1234"))
                    #expect(try await client.receive { $0.contains("size") }.contains("size 4"))
                }
                #expect(listening.gate.inside == 0)
            }
        }

        @Test("requests before a forbidden head are answered, and nothing behind it is taken")
        func forbiddenBehindOthers() async throws {
            try await ListeningUnderTest.run { listening in
                for refused in [
                    "GET /metrics HTTP/1.1\r\n\r\n",
                    "POST /v1/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: brew\r\n\r\n",
                ] {
                    let client = try listening.client()
                    client.send(HTTPText.post("1234") + refused + HTTPText.post("123456"))
                    let answers = try await client.receiveAll()
                    #expect(HTTPText.statuses(answers) == [200, refused.contains("brew") ? 501 : 400])
                    #expect(answers.contains("size 4") && !answers.contains("size 6"))
                }
            }
        }

        @Test("a method that the parser does not know, which comes in two pieces, ends with 400")
        func unknownMethodInPieces() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send("BRE")
                client.send("W /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                let statuses = HTTPText.statuses(try await client.receiveAll())
                #expect(statuses == [400] || statuses == [405])
            }
        }

        @Test("a HEAD request for a path without it is refused without a body")
        func headWithoutBody() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                for path in ["/v1/events", "/no"] {
                    client.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n" + HTTPText.post("12"))
                    let answers = try await client.receive { $0.contains("size 2") }
                    #expect(HTTPText.statuses(answers) == [path == "/no" ? 404 : 405, 200])
                    #expect(!answers.contains("urn:dnp-telemetry"))
                }
            }
        }
    }
}
