// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("At the limit of connections", .timeLimit(.minutes(2)))
    struct ConnectionLimitTests {
        private func refused(_ reason: ConnectionMetrics.Refusal, _ listening: ListeningUnderTest) -> Double {
            listening.value(#"dnp_telemetry_http_connections_refused_total{reason="\#(reason.rawValue)"}"#) ?? 0
        }

        private func open(_ listening: ListeningUnderTest) -> Double? {
            listening.value("dnp_telemetry_http_connections")
        }

        @Test("at the connection limit, the longest idle connection is evicted, and no other")
        func connectionLimitSilent() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 3
            } _: { listening in
                listening.gate.shut()
                let busy = try listening.client()
                busy.send(HTTPText.get)
                await waitUntil("it has come to that") { listening.gate.inside == 1 }
                let first = try listening.client()
                await waitUntil("it has come to that") { open(listening) == 2 }
                let second = try listening.client()
                await waitUntil("it has come to that") { open(listening) == 3 }

                let third = try listening.client()
                third.send(HTTPText.get)
                await waitUntil("it has come to that") { listening.gate.inside == 2 }
                #expect(first.isClosed && !second.isClosed)
                #expect(refused(.evicted, listening) == 1)
                listening.gate.open()
                for client in [busy, third] {
                    #expect(HTTPText.statuses(try await client.receive { $0.hasSuffix("x") }) == [200])
                }
            }
        }

        @Test("at the connection limit, new ones wait while all are at work, but those of a listener that only scrapes")
        func connectionLimitAtWork() async throws {
            try await ListeningUnderTest.run([.ingest, .metrics]) {
                $0.maximumConnections = 1
            } _: { listening in
                listening.gate.shut()
                let busy = try RawClient(port: listening.ports[0])
                busy.send(HTTPText.post("1"))
                await waitUntil("it has come to that") { listening.gate.inside == 1 }
                let waiting = try RawClient(port: listening.ports[0])
                waiting.send(HTTPText.post("12"))
                let scrape = try RawClient(port: listening.ports[1])
                scrape.send("GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(HTTPText.statuses(try await scrape.receive { $0.hasSuffix("\r\n\r\n") }) == [200])
                #expect(!waiting.hasReceived && listening.gate.inside == 1)
                listening.gate.open()
                #expect(try await busy.receive { $0.contains("size") }.contains("size 1"))
                #expect(try await waiting.receive { $0.contains("size") }.contains("size 2"))
            }
        }

        @Test(
            "at the connection limit, hundreds that connect and say nothing, or half a head, keep nobody out",
            arguments: ["", "G", "GET /metrics HTTP/1.1\r\nX-Slow: "]
        )
        func connectionLimitFlood(head: String) async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 20
                $0.headerTimeout = .seconds(300)
            } _: { listening in
                var silent: [RawClient] = []
                for _ in 0..<300 {
                    silent.append(try listening.client())
                    silent.last?.send(head)
                }
                let client = try listening.client()
                client.send(HTTPText.get)
                #expect(HTTPText.statuses(try await client.receive { $0.hasSuffix("x") }) == [200])
                #expect(try #require(open(listening)) <= 20)
                await waitUntil("it has come to that") { silent.count { $0.isClosed } >= 280 }
            }
        }

        @Test("at the connection limit, connections that drip the next head are evicted")
        func drip() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 20
                $0.headerTimeout = .seconds(300)
            } _: { listening in
                let drippers = try (0..<20).map { _ in try listening.client() }
                for dripper in drippers {
                    dripper.send(HTTPText.get)
                    #expect(HTTPText.statuses(try await dripper.receive { $0.hasSuffix("x") }) == [200])
                    dripper.send("G")
                }
                let client = try listening.client()
                client.send(HTTPText.post("123"))
                #expect(try await client.receive { $0.contains("size") }.contains("size 3"))
                #expect(drippers[0].isClosed)
            }
        }

        @Test(
            "at the connection limit, of one client, its further ones are closed while all are at work, and come in again once others have gone"
        )
        func connectionLimitOfClient() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnectionsPerClient = .count(2)
            } _: { listening in
                listening.gate.shut()
                let busy = [try listening.client(), try listening.client()]
                for client in busy { client.send(HTTPText.post("12", headers: "Connection: close\r\n")) }
                await waitUntil("both are at work") { listening.gate.inside == 2 }
                #expect(try await listening.client().receiveAll() == "")
                #expect(refused(.clientLimit, listening) == 1 && refused(.evicted, listening) == 0)
                listening.gate.open()
                for client in busy { #expect(try await client.receiveAll().contains("size 2")) }
                await waitUntil("they have gone") { open(listening) == 0 }
                let another = try listening.client()
                another.send(HTTPText.get)
                #expect(HTTPText.statuses(try await another.receive { $0.hasSuffix("x") }) == [200])
            }
        }

        @Test(
            "at the connection limit, of one client, its own that has been silent longest makes room, also where the limit of all is reached"
        )
        func silentOfClient() async throws {
            try await ListeningUnderTest.run([.ingest, .metrics]) {
                $0.maximumConnections = 2
                $0.maximumConnectionsPerClient = .count(2)
                $0.headerTimeout = .seconds(300)
            } _: { listening in
                let first = try listening.client()
                await waitUntil("it is in") { open(listening) == 1 }
                let second = try listening.client()
                await waitUntil("it is in") { open(listening) == 2 }

                let third = try listening.client()
                third.send(HTTPText.post("123"))
                #expect(try await third.receive { $0.contains("size") }.contains("size 3"))
                #expect(try await first.receiveAll() == "" && !second.isClosed)
                await waitUntil("it has gone") { open(listening) == 2 }
                let scrape = try RawClient(port: listening.ports[1])
                scrape.send(HTTPText.get)
                #expect(HTTPText.statuses(try await scrape.receive { $0.hasSuffix("x") }) == [200])
                #expect(try await second.receiveAll() == "" && !third.isClosed)
                #expect(refused(.evicted, listening) == 2 && refused(.clientLimit, listening) == 0)
            }
        }

        @Test("at the connection limit, of one client, hundreds that say nothing keep none of its others out")
        func floodOfClient() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnectionsPerClient = .count(20)
                $0.headerTimeout = .seconds(300)
            } _: { listening in
                let silent = try (0..<300).map { _ in try listening.client() }
                let client = try listening.client()
                client.send(HTTPText.get)
                #expect(HTTPText.statuses(try await client.receive { $0.hasSuffix("x") }) == [200])
                await waitUntil("the others have gone") { open(listening) == 20 }
                #expect(silent.count { $0.isClosed } >= 280)
                #expect(refused(.clientLimit, listening) == 0)
            }
        }

        /// The beginning of a request, and what its body drips.
        private func drip(chunked: Bool) -> (head: String, piece: String) {
            let framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: 1000000"
            return ("POST /v1/events HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n", chunked ? "1\r\nx\r\n" : "x")
        }

        /// Clients whose heads are read, and whose bodies are waited for.
        private func drippers(_ count: Int, chunked: Bool = false, _ listening: ListeningUnderTest) async throws
            -> [RawClient]
        {
            let drippers = try (0..<count).map { _ in
                let client = try listening.client()
                client.send(dripHead(chunked: chunked))
                return client
            }
            for dripper in drippers { _ = try await dripper.receive { $0.contains("100 Continue") } }
            return drippers
        }

        private func dripHead(chunked: Bool = false) -> String {
            drip(chunked: chunked).head.replacing("Host: x", with: "Host: x\r\nExpect: 100-continue")
        }

        @Test("at the connection limit, clients that drip bodies are evicted for others", arguments: [false, true])
        func dripBodies(chunked: Bool) async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 20
                $0.maximumConnectionsPerClient = .all
                $0.bodyTimeout = .seconds(300)
                $0.minimumTransferRate = 64 << 10
                $0.transferGrace = .seconds(20)
            } _: { listening in
                let piece = drip(chunked: chunked).piece
                let drippers = try await drippers(20, chunked: chunked, listening)
                let (scrape, post) = (try listening.client(), try listening.client())
                scrape.send(HTTPText.get)
                post.send(HTTPText.post("123"))
                let answer = try await scrape.receive {
                    for dripper in drippers { dripper.send(piece) }
                    return $0.hasSuffix("x")
                }
                #expect(HTTPText.statuses(answer) == [200])
                let size = try await post.receive {
                    for dripper in drippers { dripper.send(piece) }
                    return $0.contains("size")
                }
                #expect(size.contains("size 3"))
                let evicted = try #require(drippers.first { $0.isClosed })
                let told = try await evicted.receiveAll()
                #expect(HTTPText.statuses(told) == [503] && told.contains("problem:stalled"), "\(told)")
                #expect(told.contains("Retry-After: ") && told.contains("Connection: close\r\n"))
                #expect(drippers.count { !$0.isClosed } > 0, "the others still drip")
                #expect(listening.value(#"dnp_telemetry_http_requests_evicted_total{phase="body"}"#) ?? 0 > 0)
            }
        }

        @Test("at the connection limit, a body that makes progress is not evicted, one that drips is")
        func steadyBody() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 2
                $0.maximumConnectionsPerClient = .all
            } _: { listening in
                // Pays for what a busy machine stalls the client, too.
                let piece = String(repeating: "x", count: 4_000)
                let steady = try listening.client()
                steady.send("POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n")
                await waitUntil("it is in") { open(listening) == 1 }
                var sent = 0
                func sendPiece() {
                    steady.send(piece)
                    sent += piece.utf8.count
                }
                let dripper = try listening.client()
                dripper.send(dripHead())
                _ = try await dripper.receive {
                    sendPiece()
                    return $0.contains("100 Continue")
                }
                let post = try listening.client()
                post.send(HTTPText.post("123"))
                let size = try await post.receive {
                    sendPiece()
                    return $0.contains("size")
                }
                #expect(size.contains("size 3"))
                #expect(dripper.isClosed && !steady.isClosed)
                steady.send(String(repeating: "x", count: 10_000_000 - sent))
                #expect(try await steady.receive { $0.contains("size") }.contains("size 10000000"))
            }
        }

        @Test("at the connection limit, clients that read nothing of their answers are evicted for others")
        func unreadAnswers() async throws {
            try await ListeningUnderTest.run(page: 16 << 20) {
                $0.maximumConnections = 4
                $0.responseTimeout = .seconds(300)
                $0.transferGrace = .seconds(20)
            } _: { listening in
                listening.gate.shut()
                let readers = try (0..<4).map { _ in try listening.client(receiveBuffer: 4_096) }
                for reader in readers { reader.send(HTTPText.get) }
                await waitUntil("all places are held by requests") { listening.gate.inside == 4 }
                listening.gate.open()
                let post = try listening.client()
                post.send(HTTPText.post("123"))
                #expect(try await post.receive { $0.contains("size") }.contains("size 3"))
                #expect(listening.value(#"dnp_telemetry_http_requests_evicted_total{phase="response"}"#) ?? 0 >= 1)
            }
        }

        @Test("at the connection limit, health is answered on the same listener, and requests wait for a place")
        func lobby() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 1
            } _: { listening in
                listening.gate.shut()
                let busy = try listening.client()
                busy.send(HTTPText.post("1", headers: "Connection: close\r\n"))
                await waitUntil("it is at work") { listening.gate.inside == 1 }
                let waiting = try (0..<4).map { _ in try listening.client() }
                for (index, client) in waiting.enumerated() {
                    let body = String(repeating: "x", count: index + 2)
                    client.send(HTTPText.post(body, headers: "Connection: close\r\nExpect: 100-continue\r\n"))
                }
                let health = try listening.client()
                health.send("GET /-/healthy?x HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(HTTPText.statuses(try await health.receive { $0.hasSuffix("\r\n\r\n") }) == [200])
                await waitUntil("four wait") { open(listening) == 6 }

                let refused = try listening.client()
                refused.send(HTTPText.post("x"))
                let answer = try await refused.receiveAll()
                #expect(HTTPText.statuses(answer) == [503] && answer.contains("problem:too-many-connections"))
                #expect(answer.contains("Retry-After: ") && answer.contains("X-Frame-Options: deny\r\n"))
                #expect(listening.value("dnp_telemetry_http_requests_shed_total") == 1)
                #expect(waiting.allSatisfy { !$0.hasReceived } && listening.gate.inside == 1)

                listening.gate.open()
                #expect(try await busy.receiveAll().contains("size 1"))
                for (index, client) in waiting.enumerated() {
                    let answer = try await client.receiveAll()
                    #expect(
                        HTTPText.statuses(answer) == [100, 200] && answer.contains("size \(index + 2)"),
                        "\(answer)"
                    )
                }
            }
        }

        @Test("at the connection limit, a request that waits too long for a place gets 503, and nothing of it is taken")
        func lobbyTimeout() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 1
                $0.headerTimeout = .milliseconds(500)
            } _: { listening in
                listening.gate.shut()
                let busy = try listening.client()
                busy.send(HTTPText.post("1"))
                await waitUntil("it is at work") { listening.gate.inside == 1 }
                let waiting = try listening.client()
                waiting.send(HTTPText.post("12"))
                let answer = try await waiting.receiveAll()
                #expect(HTTPText.statuses(answer) == [503] && answer.contains("problem:too-many-connections"))
                #expect(listening.gate.inside == 1)
                listening.gate.open()
                #expect(try await busy.receive { $0.contains("size") }.contains("size 1"))
                await waitUntil("the place in the queue is free") { open(listening) == 1 }
            }
        }

        @Test(
            "at the connection limit, requests one behind the other wait for a place together, and are answered in order"
        )
        func lobbyPipelined() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 1
            } _: { listening in
                listening.gate.shut()
                let busy = try listening.client()
                busy.send(HTTPText.post("1", headers: "Connection: close\r\n"))
                await waitUntil("it is at work") { listening.gate.inside == 1 }
                let health = "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
                let waiting = try listening.client()
                waiting.send(HTTPText.post("12") + health + HTTPText.post("123"))
                let refused = try listening.client()
                refused.send(health + HTTPText.post("12"))
                #expect(HTTPText.statuses(try await refused.receiveAll()) == [200, 503])
                #expect(listening.gate.inside == 1 && !waiting.hasReceived)
                listening.gate.open()
                let answer = try await waiting.receive { $0.contains("size 3") }
                #expect(HTTPText.statuses(answer) == [200, 200, 200] && answer.contains("size 2"))
            }
        }

        @Test("one address of the loopback holds half of all connections at most with bodies that it stalls")
        func stalledShare() async throws {
            try await ListeningUnderTest.run {
                $0.maximumConnections = 20
                $0.bodyTimeout = .seconds(300)
                $0.transferGrace = .seconds(20)
            } _: { listening in
                let drippers = try await drippers(15, listening)
                while drippers.count(where: \.isClosed) < 5 {
                    let client = try listening.client()
                    client.send("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    #expect(HTTPText.statuses(try await client.receiveAll()) == [200])
                }
                #expect(drippers.count { !$0.isClosed } == 10)
            }
        }

        @Test("a listener answers 404 for what it does not serve")
        func roles() async throws {
            try await ListeningUnderTest.run([.ingest, .metrics]) { listening in
                for (port, expected) in zip(listening.ports, [[200, 404, 200], [404, 200, 200]]) {
                    let client = try RawClient(port: port)
                    client.send(
                        HTTPText.post("1") + HTTPText.get
                            + "GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                    )
                    #expect(HTTPText.statuses(try await client.receiveAll()) == expected)
                }
            }
        }
    }
}
