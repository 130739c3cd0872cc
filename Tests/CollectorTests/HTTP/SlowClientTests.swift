// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("A client that is slow", .timeLimit(.minutes(2)))
    struct SlowClientTests {
        private func timeouts(_ phase: ConnectionPhases.Phase, _ listening: ListeningUnderTest) -> Double? {
            listening.value(#"dnp_telemetry_http_timeouts_total{phase="\#(phase.rawValue)"}"#)
        }

        @Test("a client that never sends anything is closed without a word")
        func slowClientSilent() async throws {
            try await ListeningUnderTest.run([[.ingest]]) {
                $0.headerTimeout = .milliseconds(200)
            } _: { listening in
                let client = try listening.client()
                #expect(try await client.receiveAll() == "")
                #expect(timeouts(.header, listening) == 1)
            }
        }

        @Test("a client that sends the head byte by byte gets 408 when the time for the head is over")
        func slowClientHead() async throws {
            try await ListeningUnderTest.run {
                $0.headerTimeout = .milliseconds(300)
            } _: { listening in
                let client = try listening.client()
                client.send("GET /metrics HTTP/1.1\r\nX-Drip: ")
                while !client.hasReceived, !client.isClosed {
                    client.send("x")
                    try await Task.sleep(for: .milliseconds(10))
                }
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [408])
                #expect(answer.contains("Connection: close\r\n") && answer.contains("application/problem+json"))
                #expect(answer.contains("see --header-timeout"))
                #expect(answer.contains("X-Frame-Options: deny\r\n"))
                #expect(timeouts(.header, listening) == 1)
            }
        }

        @Test(
            "a client that is slow with the body gets 408, and a partial body is not taken for all of it",
            arguments: [false, true]
        )
        func body(chunked: Bool) async throws {
            try await ListeningUnderTest.run {
                $0.bodyTimeout = .milliseconds(300)
            } _: { listening in
                let client = try listening.client()
                let length = chunked ? "Transfer-Encoding: chunked" : "Content-Length: 1000000"
                client.send("POST /v1/events HTTP/1.1\r\nHost: x\r\n\(length)\r\n\r\n")
                while !client.hasReceived, !client.isClosed {
                    client.send(chunked ? "1\r\nx\r\n" : "x")
                    try await Task.sleep(for: .milliseconds(10))
                }
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [408])
                #expect(answer.contains("see --body-timeout"))
                #expect(answer.contains("X-Frame-Options: deny\r\n"))
                await waitUntil("it has come to that") { listening.gate.broken == 1 }
                #expect(listening.gate.inside == 0)
                #expect(timeouts(.body, listening) == 1)
            }
        }

        @Test(
            "a slow client with a refused body is answered at once, and closed long before the time for the body is over"
        )
        func slowClientRefused() async throws {
            try await ListeningUnderTest.run {
                $0.bodyTimeout = .seconds(300)
            } _: { listening in
                for request in [
                    "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: wrong\r\nContent-Length: 65537\r\n\r\n{",
                    "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: wrong\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{",
                    "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{",
                ] {
                    let client = try listening.client()
                    client.send(request)
                    let answer = try await client.receiveAll()
                    #expect(
                        HTTPText.statuses(answer).count == 1 && answer.contains("Connection: close\r\n"),
                        "\(answer)"
                    )
                    await waitUntil("its place is free") {
                        client.send("x")
                        return listening.value("dnp_telemetry_http_connections") == 0
                    }
                }
                #expect(timeouts(.body, listening) == 0)
            }
        }

        @Test("a slow client with the rest of a small refused body keeps its connection for two seconds")
        func refusedSmall() async throws {
            try await ListeningUnderTest.run {
                $0.bodyTimeout = .seconds(300)
            } _: { listening in
                let client = try listening.client()
                let fields = "Host: x\r\nAuthorization: wrong\r\nContent-Length: 65536\r\n"
                client.send("POST /v1/events HTTP/1.1\r\n\(fields)\r\n{")
                let answer = try await client.receive { $0.hasSuffix("}\n") }
                #expect(HTTPText.statuses(answer) == [401] && !answer.contains("Connection: close"))
                await waitUntil("its place is free") {
                    client.send("x")
                    return listening.value("dnp_telemetry_http_connections") == 0
                }
                #expect(timeouts(.body, listening) == 0)
            }
        }

        @Test("a client that goes on with a large refused upload can read the answer when it is done")
        func refusedUpload() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                let fields = "Host: x\r\nAuthorization: wrong\r\nContent-Length: 1000000\r\n"
                client.send("POST /v1/events HTTP/1.1\r\n\(fields)\r\n")
                let piece = String(repeating: "x", count: 8 << 10)
                let end = ContinuousClock.now + .seconds(3)
                while ContinuousClock.now < end {
                    #expect(client.send(piece))
                    try await Task.sleep(for: .milliseconds(100))
                }
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [401] && answer.hasSuffix("}\n"))
                await waitUntil("its place is free") { listening.value("dnp_telemetry_http_connections") == 0 }
            }
        }

        @Test("a client that does not read its answers is closed, and others are served meanwhile")
        func slowClientUnread() async throws {
            try await ListeningUnderTest.run(page: 16 << 20) {
                $0.responseTimeout = .milliseconds(500)
            } _: { listening in
                let client = try listening.client(receiveBuffer: 4_096)
                client.send(HTTPText.get)
                let other = try listening.client()
                other.send(HTTPText.post("12345"))
                #expect(try await other.receive { $0.contains("size") }.contains("size 5"))
                await waitUntil("it has come to that") { timeouts(.response, listening) == 1 }
                #expect(try await client.receiveAll().utf8.count < 16 << 20)
            }
        }

        @Test("a client that is slow to send the next request is closed after the idle time")
        func slowClientIdle() async throws {
            try await ListeningUnderTest.run {
                $0.idleTimeout = .milliseconds(300)
            } _: { listening in
                let client = try listening.client()
                client.send(HTTPText.get)
                #expect(HTTPText.statuses(try await client.receiveAll()) == [200])
                #expect(timeouts(.idle, listening) == 1)
            }
        }

        @Test("a head of 1 MB, or of very many fields, gets 431, and the connection closes")
        func largeHead() async throws {
            try await ListeningUnderTest.run { listening in
                let large = try listening.client()
                large.send("GET /metrics HTTP/1.1\r\nX-Large: \(String(repeating: "x", count: 1 << 20))\r\n\r\n")
                let answer = try await large.receiveAll()
                #expect(HTTPText.statuses(answer) == [431])
                #expect(answer.contains("at most 64 KiB and 200 fields"))
                #expect(answer.contains("X-Frame-Options: deny\r\n"))

                let many = try listening.client()
                many.send("GET /metrics HTTP/1.1\r\n" + (0..<1_000).map { "X-\($0): x\r\n" }.joined() + "\r\n")
                #expect(HTTPText.statuses(try await many.receiveAll()) == [431])

                let target = try listening.client()
                target.send("GET /\(String(repeating: "x", count: 1 << 20)) HTTP/1.1\r\n\r\n")
                #expect(HTTPText.statuses(try await target.receiveAll()) == [431])

                let good = try listening.client()
                good.send(HTTPText.get)
                #expect(HTTPText.statuses(try await good.receive { $0.hasSuffix("x") }) == [200])
            }
        }
    }
}
