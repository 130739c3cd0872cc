// SPDX-License-Identifier: Apache-2.0

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
            #expect(HTTPText.statuses(answer) == [200])
            #expect(answer.contains("Connection: close\r\n"))
        }
    }
}
