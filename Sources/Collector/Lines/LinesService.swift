// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization
internal import TelemetryEvents

/// The Unix stream sockets of lines as a service.
final class LinesService: Service {
    /// The largest piece that is read at once, in bytes.
    private static let pieceBytes = 64 << 10
    /// After how much silence no line waits any longer for one that names its cycle.
    private static let silence = TimeAmount.seconds(1)

    private struct Connection: Sendable {
        let channel: NIOAsyncChannel<LineInput, Never>
        let answering: AnswerSocket
    }

    private typealias Server = NIOAsyncChannel<Connection, Never>

    private let listeners: [BoundListener]
    private let writer: GroupCommit<IngestProcessor>
    private let decoder: LogDecoder
    private let table: ConnectionTable
    private let patience: Duration
    private let metrics: LinesMetrics
    private let log: Logger
    private let stop = SourceStop()
    private let open = OpenChannels()
    private let failure = Mutex<CollectorError?>(nil)
    private let onListening: @Sendable ([ListeningAddress]) -> Void

    /// - Parameters:
    ///   - listeners: what is accepted from; closed in the end.
    ///   - decoder: what each connection begins with.
    ///   - table: how many are served at once; at the limit, the one that has been silent longest makes room.
    ///   - patience: how long a client may take none of its answers while they are waited for.
    ///   - onListening: called once connections are accepted.
    init(
        _ listeners: [BoundListener],
        writer: GroupCommit<IngestProcessor>,
        decoder: LogDecoder,
        table: ConnectionTable,
        patience: Duration,
        metrics: LinesMetrics,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        self.listeners = listeners
        self.writer = writer
        self.decoder = decoder
        self.patience = patience
        self.metrics = metrics
        self.log = log
        self.table = table
        self.onListening = onListening
    }

    /// Serves until the service stops.
    ///
    /// - Throws: when a listener cannot be served, or fails.
    func run() async throws {
        let servers = try await start()
        onListening(listeners.map { ListeningAddress(place: $0.place, services: .lines, scheme: "unix") })
        await withGracefulShutdownHandler {
            if servers.isEmpty { try? await gracefulShutdown() }
            await withDiscardingTaskGroup { group in
                for (listener, server) in servers { group.addTask { await self.serve(server, of: listener) } }
            }
        } onGracefulShutdown: {
            self.end()
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Accepts and reads no more.
    private func end() {
        stop.request()
        open.close()
    }

    /// Sockets as the configuration asks for them.
    ///
    /// - Parameter descriptors: how many files and sockets the process may have open.
    convenience init(
        _ listeners: [BoundListener],
        live: LiveConfiguration,
        descriptors: Int,
        room: LedgerRoom,
        writer: GroupCommit<IngestProcessor>,
        metrics: LinesMetrics,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        let configuration = live.current
        self.init(
            listeners,
            writer: writer,
            decoder: LogDecoder(
                configuration.logOptions(ofSource: "socket of lines", room.key),
                pseudonyms: room.key,
                identityKey: room.identityKey
            ),
            // Each has one descriptor to read and one to answer.
            table: ConnectionTable(live, metrics.atTheLimit, descriptors: descriptors / 2),
            patience: configuration.responseTimeout,
            metrics: metrics,
            log: log,
            onListening: onListening
        )
    }

    /// Begins to accept: from all listeners, or from none.
    private func start() async throws -> [(BoundListener, Server)] {
        var servers: [(BoundListener, Server)] = []
        for (index, listener) in listeners.enumerated() {
            do {
                servers.append((listener, try await accept(listener)))
            } catch {
                for (listener, server) in servers {
                    server.channel.close(promise: nil)
                    listener.file?.remove()
                }
                for listener in listeners[index...] { listener.close() }
                throw error
            }
        }
        for (_, server) in servers { open.add(server.channel, isServer: true) }
        return servers
    }

    private func serve(_ server: Server, of listener: BoundListener) async {
        defer { listener.file?.remove() }
        try? await server.executeThenClose { connections in
            await withDiscardingTaskGroup { group in
                var connections = connections.makeAsyncIterator()
                // An error ends it as the listener's end does.
                while let connection = try? await connections.next() {
                    group.addTask { await self.serve(connection) }
                }
                guard !stop.isRequested, !Task.isCancelled else { return }
                let failed = CollectorError(
                    "the listener \(listener.listener.name) was closed by the system; start the service again"
                )
                failure.withLock { $0 = $0 ?? failed }
                end()
            }
        }
    }

    private func serve(_ connection: Connection) async {
        let channel = connection.channel.channel
        metrics.connections.add()
        open.add(channel, isServer: false)
        defer { open.remove(channel) }
        let entry = table.entry(of: channel)
        // It was told before there was anything that would hear it.
        if let entry, entry.isLeaving { entry.askForRoom() }
        let client = LinesConnection(
            channel: channel,
            answering: connection.answering,
            entry: entry,
            writer: writer,
            patience: patience,
            metrics: metrics,
            log: log
        )
        try? await connection.channel.executeThenClose { input in await client.run(input, decoder, stop: stop) }
    }

    private func accept(_ listener: BoundListener) async throws -> Server {
        let table = table
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: ListeningSockets.backlog)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        AcceptGate(table, isReserved: false),
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false)
                    )
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 4_096, initial: 16_384, maximum: Self.pieceBytes)
            )
        let strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
            lowWatermark: 1,
            highWatermark: 1
        )
        return try await bootstrap.bind(listener.descriptor, serverBackPressureStrategy: strategy) { channel in
            channel.eventLoop.makeCompletedFuture {
                do {
                    return try Self.connection(over: channel, strategy)
                } catch {
                    // Nobody else would, and its place would stay taken.
                    channel.close(promise: nil)
                    throw error
                }
            }
        }
    }

    private static func connection(
        over channel: any Channel,
        _ strategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark
    ) throws -> Connection {
        let pipeline = channel.pipeline.syncOperations
        let answering = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { AnswerSocket($0) }
        guard let answering = answering ?? nil else { throw ChannelError.ioOnClosedChannel }
        try pipeline.addHandler(SilenceHandler(patience: Self.silence))
        let wrapped = try NIOAsyncChannel<LineInput, Never>(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: strategy)
        )
        return Connection(channel: wrapped, answering: answering)
    }
}

/// The channels that end with the service: listeners at once, connections with what was read of them.
final class OpenChannels: Sendable {
    private struct State {
        var isClosed = false
        var channels: [ObjectIdentifier: (channel: any Channel, mode: CloseMode)] = [:]
    }

    private let state = Mutex(State())

    /// Takes a channel in; it is closed when the others have been.
    func add(_ channel: any Channel, isServer: Bool) {
        let mode: CloseMode = isServer ? .all : .input
        let isClosed = state.withLock { state in
            if !state.isClosed { state.channels[ObjectIdentifier(channel)] = (channel, mode) }
            return state.isClosed
        }
        if isClosed { channel.close(mode: mode, promise: nil) }
    }

    func remove(_ channel: any Channel) {
        state.withLock { state in _ = state.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Lets nothing more be accepted or read.
    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels.values.map { $0 }
        }
        for (channel, mode) in channels { channel.close(mode: mode, promise: nil) }
    }
}

/// How the sockets of lines are used, since this start.
struct LinesMetrics: Sendable {
    let atTheLimit: ConnectionMetrics
    let connections: Counter
    let stalled: Counter

    init(_ registry: MetricsRegistry) {
        atTheLimit = ConnectionMetrics(ofLines: registry)
        connections = registry.counter(
            "dnp_telemetry_lines_connections_total",
            help: "Connections to sockets of lines that were accepted."
        )
        stalled = registry.counter(
            "dnp_telemetry_lines_stalled_total",
            help: "Connections to sockets of lines that were closed because the client took no answers."
        )
    }
}
