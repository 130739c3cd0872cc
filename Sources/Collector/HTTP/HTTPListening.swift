// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Accepts connections from bound listeners and serves HTTP/1.1 over them.
struct HTTPListening: Sendable {
    /// A listener that accepts connections.
    struct Server: Sendable {
        let name: String
        let channel: any Channel
        let quiescing: ServerQuiescingHelper
        let tasks: ConnectionTasks
    }

    /// How long a stop waits until connections accepted just before are read from.
    private static let startingLimit = Duration.seconds(1)

    let responder: ServiceResponder
    let table: ConnectionTable
    let live: LiveConfiguration
    let security: ConnectionSecurity
    let headers: ServerHeaders
    let answers: HTTPMetrics
    let served: ServedPaths
    let log: Logger

    /// Starts to accept: on all listeners, or on none.
    func start(_ sockets: [BoundListener]) async throws -> [Server] {
        var servers: [Server] = []
        for (index, socket) in sockets.enumerated() {
            do {
                servers.append(try await start(socket))
            } catch {
                for server in servers { server.channel.close(promise: nil) }
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
        let tasks = ConnectionTasks()
        let channel = try await ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                    try pipeline.addHandler(
                        AcceptGate(table, beyond: listener.services == .metrics ? .reserve : .lobby)
                    )
                    try pipeline.addHandler(AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                setUp(channel, http, listener.services).map { connection in
                    tasks.run { [log] in await http.handle(value: connection, logger: log) }
                }
            }
            .withBoundSocket(socket.descriptor)
            .get()
        // NIO's bootstrap has just called listen(2) with its own backlog.
        try ListeningSockets.listen(socket.descriptor, for: listener)
        return Server(name: listener.name, channel: channel, quiescing: quiescing, tasks: tasks)
    }

    /// Puts the handlers into the pipeline of a new connection.
    private func setUp(
        _ channel: any Channel,
        _ http: HTTP1Channel,
        _ services: Listener.Services
    ) -> EventLoopFuture<HTTP1Channel.Value> {
        let (answers, loop) = (answers, channel.eventLoop)
        let connection = ConnectionHandler(
            channel,
            table,
            live,
            served,
            headers: headers,
            count: { answers.count($0) },
            unknownMethod: { [served] target in served.unmatched(target.prefix { $0 != "?" }, services) }
        )
        do {
            try table.identifyPeer(of: channel)
            try security.prepare(channel)
            try channel.pipeline.syncOperations.addHandler(ReceivedBytesHandler(connection))
        } catch {
            channel.close(promise: nil)
            return loop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(connection, eventLoop: loop)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [bound.value, ResponseHeadHandler()],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: RequestHeadLimits.bytes,
                maxHeaderListSize: RequestHeadLimits.bytes,
                maxHeaderFieldCount: RequestHeadLimits.fields
            )
        )
        let served = HTTP1Channel(responder: http.responder, configuration: configuration).setup(
            channel: channel,
            logger: log
        )
        do {
            try RequestHeadHandler().add(to: channel)
        } catch {
            return loop.makeFailedFuture(error)
        }
        return served
    }

    /// Serves until the service stops and every connection has ended.
    ///
    /// - Throws: when a listener fails.
    func serve(_ servers: [Server]) async throws {
        let failed = await withTaskCancellationHandler {
            let failed = await firstFailure(of: servers)
            await stop(servers)
            return failed
        } onCancel: {
            table.stop()
            for server in servers { server.channel.close(promise: nil) }
            for connection in table.all { connection.close(promise: nil) }
            for server in servers { server.tasks.cancel() }
        }
        if let failed {
            throw CollectorError("the listener \(failed) was closed by the system; start the service again")
        }
    }

    /// Waits until the service stops or a listener fails.
    ///
    /// - Returns: the listener that failed; nil if the service stops.
    private func firstFailure(of servers: [Server]) async -> String? {
        let (closed, continuation) = AsyncStream<String>.makeStream()
        for server in servers {
            server.channel.closeFuture.whenComplete { [table] _ in
                if !table.isStopping { continuation.yield(server.name) }
            }
        }
        return await cancelWhenGracefulShutdown {
            for await name in closed { return name }
            return nil
        }
    }

    /// Stops to accept, waits until accepted connections are read from, and drains all.
    private func stop(_ servers: [Server]) async {
        table.stop()
        for server in servers { server.channel.pipeline.fireUserInboundEventTriggered(StopAccepting()) }
        let limit = ContinuousClock.now + Self.startingLimit
        repeat {
            try? await Task.sleep(for: .milliseconds(5))
        } while table.hasStarting && ContinuousClock.now < limit && !Task.isCancelled
        let ends = servers.map { server in
            let ended = server.channel.eventLoop.makePromise(of: Void.self)
            server.quiescing.initiateShutdown(promise: ended)
            return ended.futureResult
        }
        for (server, end) in zip(servers, ends) {
            try? await end.get()
            await server.tasks.wait()
        }
    }
}

/// The layer between a connection and HTTP: none, or TLS.
struct ConnectionSecurity: Sendable {
    /// `https` if connections are encrypted.
    var scheme = "http"

    /// Adds handlers to the pipeline of a new connection, on its event loop, before those of HTTP and before anything
    /// is read. A connection for which it throws is closed.
    var prepare: @Sendable (any Channel) throws -> Void = { _ in }

    static let none = ConnectionSecurity()
}

/// The tasks that serve connections, each started on its connection's event loop.
///
/// A task group can't be added to from there, and an async sequence of connections drops those accepted while it ends.
final class ConnectionTasks: Sendable {
    private struct State {
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func run(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            state.running[number] = Task {
                await body()
                ended(number)
            }
        }
    }

    private func ended(_ number: Int) {
        let waiting = state.withLock { state in
            state.running[number] = nil
            guard state.running.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until no task runs.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.running.isEmpty { state.waiting.append(continuation) }
                return state.running.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    func cancel() {
        for task in state.withLock({ Array($0.running.values) }) { task.cancel() }
    }
}

/// Holds the head of a response until the next part follows, so that one write sends both.
final class ResponseHeadHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var head: (part: NIOAny, promise: EventLoopPromise<Void>?)?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head(let response) = unwrapOutboundIn(data), response.status.kind != .informational {
            head = (data, promise)
            return
        }
        if let head {
            self.head = nil
            context.write(head.part, promise: head.promise)
        }
        context.write(data, promise: promise)
    }

    /// A head without a following part is not sent.
    func handlerRemoved(context: ChannelHandlerContext) {
        head?.promise?.fail(ChannelError.outputClosed)
        head = nil
    }
}
