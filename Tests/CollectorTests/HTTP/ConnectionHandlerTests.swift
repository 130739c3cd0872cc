// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import HTTPTypes
import MetricsRegistry
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing

@testable import Collector

@Suite("Answers as they leave a connection")
struct ConnectionHandlerTests {
    private let channel = EmbeddedChannel()
    private let table: ConnectionTable
    private let handler: ConnectionHandler

    init() throws {
        let live = LiveConfiguration(ServeConfiguration(stateDirectory: "/nowhere"))
        table = ConnectionTable(live, ConnectionMetrics(MetricsRegistry(now: { startOfTest })), descriptors: 1_000)
        let headers = ServerHeaders(rules: LiveSecurityRules(SecurityRules()))
        let served = ServedPaths(metricsPath: "/metrics", hasReload: false)
        handler = ConnectionHandler(channel, table, live, served, headers: headers) { _ in }
        try channel.pipeline.syncOperations.addHandlers([handler, ResponseHeadHandler()])
        channel.pipeline.fireChannelActive()
    }

    private func ask() throws {
        guard handler.bytesCame(1) else { return }
        let head = HTTPRequest(method: .get, scheme: nil, authority: "x", path: "/metrics")
        channel.pipeline.fireChannelRead(HTTPRequestPart.head(head))
        channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil))
        while try channel.readInbound(as: HTTPRequestPart.self) != nil {}
    }

    private func leaves() throws -> HTTPResponsePart? {
        try channel.readOutbound(as: HTTPResponsePart.self)
    }

    private func closes(_ part: HTTPResponsePart?) -> Bool? {
        guard case .head(let head) = part else { return nil }
        return head.headerFields[.connection] == "close"
    }

    @Test("the head is sent with what follows on it, never alone")
    func connectionHandlerTogether() throws {
        try ask()
        channel.pipeline.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        #expect(try leaves() == nil)
        channel.pipeline.writeAndFlush(HTTPResponsePart.body(ByteBuffer(string: "x")), promise: nil)
        #expect(closes(try leaves()) == false)
        #expect(try leaves() == .body(ByteBuffer(string: "x")))
        channel.pipeline.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        #expect(try leaves() == .end(nil))

        try ask()
        channel.pipeline.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .noContent)), promise: nil)
        channel.pipeline.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        #expect(closes(try leaves()) == false)
        #expect(try leaves() == .end(nil))
    }

    @Test("what begins after a stop says that the connection closes, before that was told of the stop; then it closes")
    func connectionHandlerStop() throws {
        try ask()
        channel.pipeline.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        table.stop()
        channel.pipeline.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        #expect(closes(try leaves()) == true)
        #expect(try leaves() == .end(nil))
        try ask()
        channel.pipeline.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        #expect(try leaves() == nil, "nothing more is answered")
    }

    @Test("a head of which nothing follows is let go with the connection")
    func abandoned() throws {
        try ask()
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.pipeline.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: promise)
        _ = try channel.finish()
        #expect(throws: ChannelError.self) { try promise.futureResult.wait() }
    }
}

extension OneAtATime {
    @Suite("Large bodies")
    struct LargeBodiesTests {
        @Test("large bodies leave the threads of other tasks alone")
        func largeBodiesOthers() async throws {
            let gate = DispatchSemaphore(value: 0)
            let works = 2 * ProcessInfo.processInfo.activeProcessorCount
            let done = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<works {
                    group.addTask {
                        try await LargeBodies.run { gate.wait(timeout: .now() + 30) == .success ? 1 : 0 }
                    }
                }
                // Runs only if the works above, more of them than there are threads for tasks, wait elsewhere.
                group.addTask {
                    for _ in 0..<works { gate.signal() }
                    return 0
                }
                return try await group.reduce(0, +)
            }
            #expect(done == works)
        }

        @Test("large bodies are not the usual ones, and compressed ones are large sooner")
        func largeBodiesSizes() {
            #expect(!LargeBodies.isLarge(200_000, isCompressed: false))
            #expect(LargeBodies.isLarge(300_000, isCompressed: false))
            #expect(!LargeBodies.isLarge(20_000, isCompressed: true))
            #expect(LargeBodies.isLarge(200_000, isCompressed: true))
        }

        @Test("large bodies pass on what the work throws")
        func largeBodiesFailure() async {
            await #expect(throws: CancellationError.self) {
                try await LargeBodies.run { throw CancellationError() }
            }
        }
    }
}
