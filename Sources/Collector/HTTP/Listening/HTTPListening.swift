// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOPosix
internal import ServiceLifecycle

/// Accepts connections from bound listeners and serves HTTP/1.1 over them.
struct HTTPListening: Sendable {
    /// A listener whose connections are accepted.
    struct Server: Sendable {
        let http: HTTP1Channel
        let accepted: NIOAsyncChannel<HTTP1Channel.Value, Never>
        let quiescing: ServerQuiescingHelper
    }

    let responder: ServiceResponder
    let table: ConnectionTable
    let live: LiveConfiguration
    let security: ConnectionSecurity
    let answers: HTTPMetrics
    let log: Logger

    /// Begins to accept: from all listeners, or from none.
    func start(_ sockets: [BoundListener]) async throws -> [Server] {
        var servers: [Server] = []
        for (index, socket) in sockets.enumerated() {
            do {
                servers.append(try await start(socket))
            } catch {
                for server in servers { server.accepted.channel.close(promise: nil) }
                for socket in sockets[index...] { socket.close() }
                throw error
            }
        }
        return servers
    }

    private func start(_ socket: BoundListener) async throws -> Server {
        let (listener, table) = (socket.listener, table)
        let http = HTTP1Channel { [responder] request, writer, connection in
            try await responder.respond(to: request, over: connection, of: listener, writer)
        }
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let accepted = try await ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let gate = AcceptGate(table, isReserved: listener.services == .metrics)
                    try channel.pipeline.syncOperations.addHandler(gate)
                    try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(socket.descriptor) { channel in setUp(channel, http) }
        // What accepts for the first time sets the backlog anew.
        try ListeningSockets.listen(socket.descriptor, for: listener)
        return Server(http: http, accepted: accepted, quiescing: quiescing)
    }

    /// Puts the handlers into the pipeline of a new connection.
    private func setUp(_ channel: any Channel, _ http: HTTP1Channel) -> EventLoopFuture<HTTP1Channel.Value> {
        let (answers, loop) = (answers, channel.eventLoop)
        let connection = ConnectionHandler(channel, table, live) { problem in
            answers.count(route: nil, status: problem.status.code)
        }
        do {
            try security.prepare(channel)
            try channel.pipeline.syncOperations.addHandler(ArrivalHandler(connection))
        } catch {
            channel.close(promise: nil)
            return loop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(connection, eventLoop: loop)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [bound.value],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: RequestHeadLimits.bytes,
                maxHeaderListSize: RequestHeadLimits.bytes,
                maxHeaderFieldCount: RequestHeadLimits.fields
            )
        )
        return HTTP1Channel(responder: http.responder, configuration: configuration).setup(
            channel: channel,
            logger: log
        )
    }

    /// Serves until the service stops and every connection has ended.
    func serve(_ servers: [Server]) async {
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await withDiscardingTaskGroup { group in
                    for server in servers {
                        group.addTask { await serve(server) }
                    }
                }
            } onGracefulShutdown: {
                table.stop()
                for server in servers { server.quiescing.initiateShutdown(promise: nil) }
            }
        } onCancel: {
            for server in servers { server.accepted.channel.close(promise: nil) }
            for connection in table.all { connection.close(promise: nil) }
        }
    }

    private func serve(_ server: Server) async {
        await withDiscardingTaskGroup { group in
            do {
                try await server.accepted.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { await server.http.handle(value: connection, logger: log) }
                    }
                }
            } catch {
                log.error("a listener failed", metadata: ["error": "\(error)"])
            }
        }
    }
}
