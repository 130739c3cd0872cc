// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("Requests over one connection", .timeLimit(.minutes(2)))
    struct RequestSequenceTests {
        @Test("requests over one connection that come at once are answered in their order, also those that are refused")
        func requestSequencePipelined() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send(
                    HTTPText.post("1234") + "GET /no HTTP/1.1\r\nHost: x\r\n\r\n" + HTTPText.get
                        + HTTPText.post("123456")
                )
                let answers = try await client.receive { $0.contains("size 6") }
                #expect(HTTPText.statuses(answers) == [200, 404, 200, 200])
                #expect(answers.contains("size 4"))
            }
        }

        @Test("requests over one connection end with 400 where one is none, once those before it are answered")
        func requestSequenceGarbage() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                listening.gate.shut()
                client.send(HTTPText.post("1234") + "NO REQUEST\r\n\r\n")
                await waitUntil("it has come to that") { listening.gate.inside == 1 }
                listening.gate.open()
                let answers = try await client.receiveAll()
                #expect(HTTPText.statuses(answers) == [200, 400])
                #expect(answers.contains("unreadable-request") && answers.contains("size 4"))
                #expect(answers.components(separatedBy: "X-Frame-Options: deny\r\n").count == 3)
            }
        }

        @Test(
            "requests over one connection end with 400 where a body is none, or ends too early; nothing of it is taken",
            arguments: [false, true]
        )
        func brokenBody(chunked: Bool) async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                if chunked {
                    client.send(
                        "POST /v1/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nzz\r\n"
                    )
                } else {
                    client.send("POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabcd")
                    client.finish()
                }
                #expect(HTTPText.statuses(try await client.receiveAll()) == [400])
                await waitUntil("it has come to that") { listening.gate.broken == 1 }
                #expect(listening.gate.inside == 0)
            }
        }

        @Test("requests over one connection whose body ends too early are not taken behind one that is under way")
        func brokenBodyBehind() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                listening.gate.shut()
                client.send(
                    HTTPText.post("1234") + "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabcd"
                )
                client.finish()
                await waitUntil("it has come to that") { listening.gate.inside == 1 }
                listening.gate.open()
                #expect(HTTPText.statuses(try await client.receiveAll()) == [200, 400])
                await waitUntil("its body is given up") { listening.gate.broken == 1 }
            }
        }

        @Test(
            "requests over one connection are told to send the body where they ask, and are refused before where it is too large"
        )
        func expectation() async throws {
            try await ListeningUnderTest.run {
                $0.maximumBody = 1_000
            } _: { listening in
                let head = "POST /v1/events HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
                let client = try listening.client()
                client.send("\(head)4\r\n\r\n")
                let go = try await client.receive { $0.hasSuffix("\r\n\r\n") }
                #expect(go == "HTTP/1.1 100 Continue\r\n\r\n")
                client.send("abcd")
                #expect(try await client.receive { $0.contains("size") }.contains("size 4"))

                let large = try listening.client()
                large.send("\(head)5000\r\n\r\n")
                let refusal = try await large.receiveAll()
                #expect(HTTPText.statuses(refusal) == [413])
                #expect(refusal.contains("Connection: close\r\n"))
            }
        }

        @Test("requests over one connection by HEAD get the length and no body, and the next one its answer")
        func requestSequenceHead() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = try await client.receive { $0.hasSuffix("\r\n\r\n") }
                #expect(answer.lowercased().contains("content-length: 100\r\n"))
                client.send(HTTPText.post("12"))
                #expect(try await client.receive { $0.contains("size") }.contains("size 2"))
            }
        }

        @Test(
            "requests over one connection end where the client wants it so, however it spells it",
            arguments: ["close", "Close", "TE, close"]
        )
        func close(value: String) async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send(HTTPText.post("12", headers: "Connection: \(value)\r\n"))
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [200])
                #expect(answer.contains("Connection: close\r\n") && answer.contains("Server: dnp-telemetry\r\n"))
            }
        }

        @Test(
            "requests over one connection are not taken behind the one that the client called its last, and hold no place"
        )
        func behindTheLast() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send(
                    HTTPText.post("1") + HTTPText.post("12", headers: "Connection: close\r\n") + HTTPText.post("123")
                )
                let answers = try await client.receiveAll()
                #expect(HTTPText.statuses(answers) == [200, 200])
                #expect(answers.contains("size 1\n") && answers.contains("size 2\n"))
                #expect(answers.components(separatedBy: "Connection: close\r\n").count == 2, "the last one says so")
                await waitUntil("its place is free") { listening.value("dnp_telemetry_http_connections") == 0 }
            }
        }

        @Test(
            "requests over one connection of HTTP/1.0 are answered, and end their connection",
            arguments: ["", "Connection: keep-alive\r\n"]
        )
        func old(header: String) async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send("GET /metrics HTTP/1.0\r\n\(header)\r\n")
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [200] && answer.hasSuffix("xxx"))
                #expect(answer.contains("Connection: close\r\n"))

                let expecting = try listening.client()
                expecting.send(
                    "POST /v1/events HTTP/1.0\r\n\(header)Expect: 100-continue\r\nContent-Length: 2\r\n\r\n12"
                )
                #expect(HTTPText.statuses(try await expecting.receiveAll()) == [200])
            }
        }

        @Test(
            "requests over one connection that are refused once they have come wholly leave the connection to the next"
        )
        func requestSequenceRefused() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                for (request, status) in [
                    (HTTPText.post("1234", headers: "Authorization: wrong\r\n"), 401),
                    (HTTPText.post(""), 400), (HTTPText.post("12"), 200),
                ] {
                    client.send(request)
                    let answer = try await client.receive { $0.hasSuffix("\n") && !$0.hasSuffix("\r\n") }
                    #expect(HTTPText.statuses(answer) == [status] && !answer.contains("Connection: close"))
                }
            }
        }

        @Test(
            "requests over one connection of which the small body comes behind the refusal leave the connection to the next",
            arguments: [1, 4, 65_536]
        )
        func refusedBeforeTheBody(size: Int) async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                let body = String(repeating: "x", count: size)
                let request = HTTPText.post(body, headers: "Authorization: wrong\r\n")
                for _ in 0..<2 {
                    client.send(String(request.dropLast(size)))
                    let refusal = try await client.receive { $0.hasSuffix("}\n") }
                    #expect(HTTPText.statuses(refusal) == [401] && !refusal.contains("Connection: close"))
                    client.send(body + HTTPText.post("12"))
                    #expect(try await client.receive { $0.contains("size") }.contains("size 2"))
                }
            }
        }

        @Test("requests over one connection are answered where the client has said that it sends no more")
        func halfClosed() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                client.send(HTTPText.post("123"))
                client.finish()
                #expect(try await client.receiveAll().contains("size 3"))
            }
        }
    }
}

extension OneAtATime {
    @Suite("When the service stops", .timeLimit(.minutes(2)))
    struct GracefulStopTests {
        @Test(
            "at a graceful stop, what is under way is answered, with a word that the connection ends; the rest is closed"
        )
        func underWay() async throws {
            try await ListeningUnderTest.run { listening in
                listening.gate.shut()
                let busy = try listening.client()
                busy.send(HTTPText.post("1234"))
                let idle = try listening.client()
                idle.send("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(HTTPText.statuses(try await idle.receive { $0.hasSuffix("\r\n\r\n") }) == [200])
                await waitUntil("it has come to that") { listening.gate.inside == 1 }
                await listening.stop()
                #expect(try await idle.receiveAll() == "")
                #expect(!busy.isClosed)
                listening.gate.open()
                let answer = try await busy.receiveAll()
                #expect(answer.contains("Connection: close\r\n") && answer.contains("size 4"))
                #expect(SocketProbe.connected(port: listening.port) == nil)
            }
        }

        @Test("at a graceful stop, a request that was on its way over a silent connection is answered still")
        func onItsWay() async throws {
            try await ListeningUnderTest.run { listening in
                let client = try listening.client()
                await waitUntil("it has come to that") { listening.value("dnp_telemetry_http_connections") == 1 }
                await listening.stop()
                client.send(HTTPText.post("12"))
                let answer = try await client.receiveAll()
                #expect(HTTPText.statuses(answer) == [200] && answer.contains("size 2"))
            }
        }

        @Test("at a graceful stop, a head that has begun may come wholly still, and who does not go on with it is told")
        func halfHead() async throws {
            try await ListeningUnderTest.run { listening in
                let silent = try listening.client()
                let half = try listening.client()
                let stuck = try listening.client()
                await waitUntil("all are in") { listening.value("dnp_telemetry_http_connections") == 3 }
                half.send("GET /-/healthy HTTP/1.1\r\nHost: ")
                stuck.send("GET /-/hea")
                await listening.stop()
                #expect(try await silent.receiveAll() == "", "its moment is over")
                half.send("x\r\n\r\n")
                let answer = try await half.receiveAll()
                #expect(HTTPText.statuses(answer) == [200] && answer.contains("Connection: close\r\n"))
                let refusal = try await stuck.receiveAll()
                #expect(HTTPText.statuses(refusal) == [503] && refusal.contains("Connection: close\r\n"))
                #expect(refusal.contains("Retry-After: ") && refusal.contains("stopping"))
            }
        }

        @Test(
            "at a graceful stop, at the limit, with more connections waiting, every one that was accepted is answered",
            arguments: 0..<5
        )
        func atTheLimit(round: Int) async throws {
            try await ListeningUnderTest.run([[.ingest], [.metrics]]) {
                $0.maximumConnections = 4
            } _: { listening in
                listening.gate.shut()
                let busy = try (0..<4).map { _ in try listening.client() }
                for client in busy { client.send(HTTPText.post("1234")) }
                await waitUntil("all are at work") { listening.gate.inside == 4 }
                let waiting = try (0..<40).map { _ in try listening.client() }
                for client in waiting { client.send(HTTPText.post("12")) }
                await listening.stop()
                listening.gate.open()
                for client in busy { #expect(try await client.receiveAll().contains("size 4")) }
                var answered = 0
                for client in waiting {
                    let answer = try await client.receiveAll()
                    #expect(answer.isEmpty || answer.contains("size 2"))
                    if !answer.isEmpty { answered += 1 }
                }
                #expect(answered < 40, "what waits in the backlog stays there")
            }
        }
    }
}
