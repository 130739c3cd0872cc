// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
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
        handler = ConnectionHandler(channel, table, live, headers: headers) { _ in }
        try channel.pipeline.syncOperations.addHandlers([handler, AnswerHeadHandler()])
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
    func together() throws {
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
    func stop() throws {
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
