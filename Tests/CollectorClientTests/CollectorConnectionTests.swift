// SPDX-License-Identifier: Apache-2.0

import HTTPExchange
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A connection to a collector")
struct CollectorConnectionTests {
    private static let answer =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\r\nok"

    /// Serves one fixed answer, and connects to it.
    private func with(
        _ answer: String,
        closes: Bool = false,
        timeout: Duration = .seconds(30),
        _ body: (CollectorConnection, CannedServer) async throws -> Void
    ) async throws {
        let server = try await CannedServer(answer, closes: closes)
        let connection = try CollectorConnection(
            CollectorURL("http://127.0.0.1:\(server.port)"),
            CollectorAccess(),
            timeout: timeout,
            credentials: nil
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(connection, server)) } catch { result = .failure(error) }
        await connection.close()
        try await server.close()
        try result.get()
    }

    @Test("a client sends consecutive requests over one connection")
    func keptConnection() async throws {
        try await with(Self.answer) { connection, server in
            for _ in 0..<3 {
                let answer = try await connection.get()
                #expect(answer.status == 200 && answer.mediaType == "text/plain" && answer.body == Array("ok".utf8))
            }
            #expect(server.connections == 1 && server.requests == 3)
        }
    }

    @Test("a client connects again when the collector closed the connection between two requests")
    func closedBetweenRequests() async throws {
        try await with(Self.answer, closes: true) { connection, server in
            for _ in 0..<5 {
                let answer = try await connection.get()
                #expect(answer.status == 200)
            }
            #expect(server.connections == 5)
        }
    }

    @Test("a client connects again after an answer with Connection: close")
    func announcedClose() async throws {
        try await with(Self.answer.replacing("Content-Type", with: "Connection: close\r\nContent-Type")) {
            connection,
            server in
            for _ in 0..<3 {
                let answer = try await connection.get()
                #expect(answer.status == 200)
            }
            #expect(server.connections == 3)
        }
    }

    @Test(
        "a client reports an answer that is cut, too large or not HTTP",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", true, "it closed the connection", false),
            ("", true, "it closed the connection", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", false, "its answer has no end", true),
            ("SSH-2.0-OpenSSH_9.2\r\n\r\n", false, "its answer is not HTTP", false),
        ]
    )
    func brokenAnswers(answer: String, closes: Bool, reason: String, isFinal: Bool) async throws {
        try await with(answer, closes: closes) { connection, _ in
            let error = await #expect(throws: Unreachable.self) { try await connection.get() }
            #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
            #expect(error?.isFinal == isFinal)
        }
    }

    @Test("a client leaves a collector whose answer is not complete at the deadline")
    func deadline() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"
        try await with(head, timeout: .milliseconds(150)) { connection, server in
            for _ in 0..<2 {
                let error = await #expect(throws: Unreachable.self) { try await connection.get() }
                #expect(error?.reason == "no answer within 150 ms" && error?.isFinal == false)
            }
            try await eventually("the second connection is accepted") { server.connections == 2 }
        }
    }

    @Test("a request that is lost while it is sent leaves a part of its body, and the next one connects again")
    func lostRequest() async throws {
        try await with(Self.answer) { connection, server in
            await connection.lose(.whileSending(bytes: 3), Array("abcdef".utf8), [])
            try await eventually("the collector has a part of the body") { server.received.hasSuffix("\r\n\r\nabc") }
            #expect(server.received.contains("Content-Length: 6\r\n"))
            let answer = try await connection.get()
            #expect(answer.status == 200 && server.connections == 2)
        }
    }

    @Test("an answer that is lost closes its connection, and the next request connects again")
    func lostAnswer() async throws {
        try await with(Self.answer) { connection, server in
            await connection.lose(.answer, [], [])
            #expect(server.requests == 1)
            let answer = try await connection.get()
            #expect(answer.status == 200 && server.connections == 2 && server.requests == 2)
        }
    }

    @Test("the Host of a request has the port unless it is the scheme's own, and a server name instead of the host")
    func authorities() throws {
        #expect(try CollectorURL("http://a.example:8080").authority(named: nil) == "a.example:8080")
        #expect(try CollectorURL("http://a.example:80/x").authority(named: nil) == "a.example")
        #expect(try CollectorURL("https://[::1]:9").authority(named: nil) == "[::1]:9")
        #expect(try CollectorURL("https://[::1]:9").authority(named: "b.example") == "b.example:9")
        #expect(try CollectorURL("https://10.0.0.5:443").authority(named: "b.example") == "b.example")
        #expect(try CollectorURL("unix:/run/x.sock").authority(named: nil) == "localhost")
    }
}

/// Answers every request with the same bytes.
private final class CannedServer: Sendable {
    private struct Counts {
        var connections = 0
        var requests = 0
        var received = ""
    }

    private let channel: any Channel
    private let counts: Counter

    /// - Parameters:
    ///   - answer: the bytes of each answer.
    ///   - closes: whether the connection is closed after an answer.
    init(_ answer: String, closes: Bool) async throws {
        let counts = Counter()
        self.counts = counts
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    counts.value.withLock { $0.connections += 1 }
                    try channel.pipeline.syncOperations.addHandler(
                        CannedAnswer(answer, closes: closes) { text, isWhole in
                            counts.value.withLock { counts in
                                counts.received += text
                                if isWhole { counts.requests += 1 }
                            }
                        }
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var connections: Int { counts.value.withLock { $0.connections } }
    var requests: Int { counts.value.withLock { $0.requests } }
    /// All bytes of all connections.
    var received: String { counts.value.withLock { $0.received } }

    func close() async throws { try await channel.close() }

    private final class Counter: Sendable {
        let value = Mutex(Counts())
    }
}

private final class CannedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: ByteBuffer
    private let closes: Bool
    /// Receives what was read, and whether it ends a request.
    private let count: @Sendable (String, Bool) -> Void
    private var received = ""

    init(_ answer: String, closes: Bool, count: @escaping @Sendable (String, Bool) -> Void) {
        self.answer = ByteBuffer(string: answer)
        self.closes = closes
        self.count = count
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        received += text
        let isWhole = received.hasSuffix("\r\n\r\n")
        count(text, isWhole)
        guard isWhole else { return }
        received = ""
        let channel = context.channel
        let written = context.writeAndFlush(wrapOutboundOut(answer))
        if closes { written.whenComplete { _ in channel.close(promise: nil) } }
    }
}
