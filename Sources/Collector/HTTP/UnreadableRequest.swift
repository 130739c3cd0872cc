// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// What is known of a request that the parser may give up, and the answer to it.
struct UnreadableRequest {
    private let unknownMethod: (Substring) -> Problem?
    /// The bytes being parsed, while they begin with the request that is read.
    private var parsing: ByteBuffer?

    /// - Parameter unknownMethod: the answer to a method that the parser does not know, by the target; nil if there is none
    ///   better than 400.
    init(unknownMethod: @escaping (Substring) -> Problem?) {
        self.unknownMethod = unknownMethod
    }

    /// Bytes are about to be parsed that begin with a request.
    mutating func begin(_ bytes: ByteBuffer) { parsing = bytes }

    /// The request's head was read, or the bytes are parsed.
    mutating func end() { parsing = nil }

    /// The answer to a request that can't be read; nil if the connection failed.
    func problem(of error: any Error) -> Problem? {
        if case HTTPParserError.invalidMethod = error, let parsing, let line = UnknownMethodLine(parsing),
            let problem = unknownMethod(line.target)
        {
            return problem
        }
        return Problem(unreadable: error)
    }
}

/// Reports received bytes to the connection's handler before they are parsed, and drops those it discards.
final class ReceivedBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(unwrapInboundIn(data)) { context.fireChannelRead(data) }
    }
}

/// The connection ended before the body of its request.
struct BodyAbandoned: Error {}
