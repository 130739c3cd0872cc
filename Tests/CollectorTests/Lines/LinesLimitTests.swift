// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TelemetryEvents
import TestSupport
import Testing

@Suite("The socket of lines at the limit of connections")
struct LinesLimitTests {
    private func running(connections: Int) throws -> LinesServiceTests.Running {
        let directory = try TemporaryDirectory()
        return try LinesServiceTests.Running(directory, try Pipeline(in: directory), connections: connections)
    }

    private func evicted(_ running: LinesServiceTests.Running) -> Int? {
        running.pipeline.page[#"dnp_telemetry_lines_connections_refused_total{reason="made_room"}"#]
    }

    private func open(_ running: LinesServiceTests.Running) -> Int? {
        running.pipeline.page["dnp_telemetry_lines_open_connections"]
    }

    @Test("lets the client make room that has been silent longest, and no other")
    func silent() async throws {
        let running = try running(connections: 3)
        let speaking = try running.client()
        await speaking.send(LinesServiceTests.lines(0..<1))
        await speaking.expectDurable(1)
        let first = try running.client()
        await waitUntil("it is in") { open(running) == 2 }
        let second = try running.client()
        await waitUntil("it is in") { open(running) == 3 }
        #expect(running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 0)

        let third = try running.client()
        await third.send(LinesServiceTests.lines(1..<2))
        await third.expectDurable(1)
        await first.expectEnd()
        #expect(first.answers == [])
        #expect(speaking.receive() && second.receive(), "the others stay")
        await speaking.send(LinesServiceTests.lines(2..<3))
        await speaking.expectDurable(2)
        #expect(evicted(running) == 1)
        #expect(running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 1)
        try await running.end()
    }

    @Test("takes nothing for a line that a client had not ended when it made room, and has answered all before it")
    func half() async throws {
        let running = try running(connections: 1)
        let client = try running.client()
        await client.send(LinesServiceTests.lines(0..<5) + #"{"event":"prefetch_sche"#)
        await client.expectDurable(5)
        let other = try running.client()
        await other.send(LinesServiceTests.lines(5..<6))
        await other.expectDurable(1)
        await client.expectEnd()
        #expect(client.answers.allSatisfy { $0.hasPrefix("ok ") } && client.durable == 5)
        #expect(running.pipeline.page.scheduled == 6)
        #expect(running.pipeline.page.rejected == 0)
        #expect(running.pipeline.page[#"dnp_telemetry_events_received_total{source="socket",format="log"}"#] == 6)
        try await running.end()
    }

    @Test("lets new clients wait while the lines of all others are being stored")
    func atWork() async throws {
        let running = try running(connections: 2)
        let gate = Gate()
        let holding = Task { try? await running.pipeline.writer.perform { (_, _) in gate.pass() } }
        await waitUntil("the writer is held") { gate.isReached }
        let busy = [try running.client(), try running.client()]
        for (index, client) in busy.enumerated() { await client.send(LinesServiceTests.lines(index..<index + 1)) }
        await waitUntil("their lines wait") { running.pipeline.writer.statistics.waitingSubmissions == 2 }
        let waiting = try running.client()
        await waiting.send(LinesServiceTests.lines(2..<3))
        await waitUntil("it waits") { running.pipeline.page["dnp_telemetry_lines_connections_waited_total"] == 1 }
        #expect(running.pipeline.writer.statistics.waitingSubmissions == 2)
        gate.open()
        _ = await holding.value
        for client in busy { await client.expectDurable(1) }
        await waiting.expectDurable(1)
        #expect(evicted(running) == 1, "one of them, once it was silent")
        try await running.end()
    }

    @Test("serves a new client behind hundreds that connect and say nothing")
    func flood() async throws {
        let running = try running(connections: 20)
        let silent = try (0..<300).map { _ in try running.client() }
        let client = try running.client()
        await client.send(LinesServiceTests.lines(0..<100))
        await client.expectDurable(100)
        #expect(try #require(open(running)) <= 20)
        await waitUntil("most have made room") { silent.count { !$0.receive() } >= 280 }
        try await running.end()
    }

    @Test("does not wait for a client that takes no answers and is to make room")
    func unread() async throws {
        let running = try running(connections: 1)
        let client = try running.client()
        let refused = Array(String(repeating: #"{"event":"nothing"}"# + "\n", count: 20).utf8)
        var rejected = 0
        var (most, roundsWithoutMore) = (0, 0)
        while roundsWithoutMore < 5 {
            #expect(client.offer(refused[...]) == refused.count)
            rejected += 20
            await waitUntil("they are refused") { running.pipeline.page.rejected == rejected }
            let waiting = client.waiting
            roundsWithoutMore = waiting > most ? 0 : roundsWithoutMore + 1
            most = waiting
        }
        let other = try running.client()
        await other.send(LinesServiceTests.lines(0..<1))
        await other.expectDurable(1)
        #expect(evicted(running) == 1)
        try await running.end()
    }
}
