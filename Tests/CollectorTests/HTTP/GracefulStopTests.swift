// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Testing

@testable import Collector

@Suite("When the service stops", .timeLimit(.minutes(2)))
struct GracefulStopTests {
    @Test("what is under way is answered, with a word that the connection ends; the rest is closed")
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

    @Test("a request that was on its way over a silent connection is answered still")
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

    @Test("a head that has begun may come wholly still, and who does not go on with it is told")
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

    @Test("at the limit, with more connections waiting, every one that was accepted is answered", arguments: 0..<5)
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
