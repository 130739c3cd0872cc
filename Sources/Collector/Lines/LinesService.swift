// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization
internal import TelemetryEvents

/// Serves the Unix stream sockets that take log lines (docs/line-socket.md).
final class LinesService: Service {
    /// The largest read, in bytes.
    private static let maximumReadBytes = 64 << 10
    /// Idle time after which lines no longer wait for the line that names their cycle.
    private static let flushDelay = TimeAmount.seconds(1)

    private struct Connection: Sendable {
        let channel: NIOAsyncChannel<LineInput, Never>
        let answering: AnswerSocket
    }

    private typealias Server = NIOAsyncChannel<Connection, Never>

    private let listeners: [BoundListener]
    private let writer: GroupCommit<IngestProcessor>
    private let decoder: LogDecoder
    private let pseudonyms: any Pseudonymising
    private let table: ConnectionTable
    private let patience: Duration
    private let anonymous: AnonymousDevice
    private let metrics: LinesMetrics
    private let log: Logger
    private let stop = SourceStop()
    private let open = OpenChannels()
    private let failure = Mutex<CollectorError?>(nil)
    private let onListening: @Sendable ([ListeningAddress]) -> Void

    /// - Parameters:
    ///   - listeners: closed in the end.
    ///   - decoder: the initial state of each connection's decoder.
    ///   - pseudonyms: replaces the installation that a connection's first line names.
    ///   - table: limits the connections; at the limit, the one that has been idle for longest is evicted.
    ///   - patience: how long sending waits for a client that reads none of its answers.
    ///   - anonymous: the device of lines whose connection names none.
    ///   - onListening: called once connections are accepted.
    init(
        _ listeners: [BoundListener],
        writer: GroupCommit<IngestProcessor>,
        decoder: LogDecoder,
        pseudonyms: any Pseudonymising,
        table: ConnectionTable,
        patience: Duration,
        anonymous: AnonymousDevice,
        metrics: LinesMetrics,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        self.anonymous = anonymous
        self.listeners = listeners
        self.writer = writer
        self.decoder = decoder
        self.pseudonyms = pseudonyms
        self.patience = patience
        self.metrics = metrics
        self.log = log
        self.table = table
        self.onListening = onListening
    }

    /// Serves until the service stops.
    ///
    /// - Throws: if a listener cannot be served, or fails.
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
        open.closeUnserved()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Stops accepting and reading.
    private func end() {
        stop.request()
        open.close()
    }

    /// Takes its limits from the configuration.
    ///
    /// - Parameter descriptors: the limit of open files of the process.
    convenience init(
        _ listeners: [BoundListener],
        live: LiveConfiguration,
        descriptors: Int,
        room: RecoveredLedger,
        writer: GroupCommit<IngestProcessor>,
        anonymous: AnonymousDevice,
        metrics: LinesMetrics,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        let configuration = live.current
        self.init(
            listeners,
            writer: writer,
            decoder: LogDecoder(
                configuration.logOptions(ofLineSockets: room.key),
                pseudonyms: room.key,
                identityKey: room.identityKey
            ),
            pseudonyms: room.key,
            // Each connection has one descriptor to read and one to answer.
            table: ConnectionTable(
                live,
                metrics.atTheLimit,
                descriptors: descriptors / 2,
                // Many quiet clients of one user are normal here; at the limit they are evicted first.
                limitsClients: false
            ),
            patience: configuration.responseTimeout,
            anonymous: anonymous,
            metrics: metrics,
            log: log,
            onListening: onListening
        )
    }

    /// Starts to accept: on all listeners, or on none.
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
        for (_, server) in servers { open.add(server.channel, mode: .all) }
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
        open.add(channel, mode: .input)
        defer { open.remove(channel) }
        let entry = table.entry(of: channel)
        // It may have been evicted before its pipeline could handle the event.
        if let entry, entry.isEvicted { entry.requestEviction() }
        let client = LinesConnection(
            channel: channel,
            answering: connection.answering,
            entry: entry,
            writer: writer,
            patience: patience,
            anonymous: anonymous,
            metrics: metrics,
            log: log
        )
        try? await connection.channel.executeThenClose { input in
            await client.run(input, decoder, pseudonyms: pseudonyms, stop: stop)
        }
    }

    private func accept(_ listener: BoundListener) async throws -> Server {
        let (table, open) = (table, open)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: ListeningSockets.backlog)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        AcceptGate(table, beyond: .none),
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false)
                    )
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 4_096, initial: 16_384, maximum: Self.maximumReadBytes)
            )
        let strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
            lowWatermark: 1,
            highWatermark: 1
        )
        return try await bootstrap.bind(listener.descriptor, serverBackPressureStrategy: strategy) { channel in
            channel.eventLoop.makeCompletedFuture {
                do {
                    try table.identifyPeer(of: channel)
                    let connection = try Self.connection(over: channel, strategy)
                    open.accept(channel)
                    return connection
                } catch {
                    // Nothing else closes it, and its place in the table would stay taken.
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
        try pipeline.addHandler(IdleHandler(delay: Self.flushDelay))
        let wrapped = try NIOAsyncChannel<LineInput, Never>(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: strategy)
        )
        return Connection(channel: wrapped, answering: answering)
    }
}

/// The channels that a stop closes: listeners whole, connections for reading only.
private final class OpenChannels: Sendable {
    private struct State {
        /// Whether a stop has begun.
        var isClosed = false
        /// Whether nobody serves connections any longer.
        var isEnded = false
        /// With how a stop closes them; nil while nobody serves them.
        var channels: [ObjectIdentifier: (channel: any Channel, mode: CloseMode?)] = [:]
    }

    private let state = Mutex(State())

    /// Adds a connection that is being accepted, until it closes.
    func accept(_ channel: any Channel) {
        let isEnded = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = (channel, nil)
            return state.isEnded
        }
        channel.closeFuture.whenComplete { _ in self.remove(channel) }
        if isEnded { channel.close(promise: nil) }
    }

    /// Adds a channel that is served; it is closed at once if the others have been.
    func add(_ channel: any Channel, mode: CloseMode) {
        let isClosed = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = (channel, mode)
            return state.isClosed
        }
        if isClosed { channel.close(mode: mode, promise: nil) }
    }

    func remove(_ channel: any Channel) {
        state.withLock { state in _ = state.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Stops accepting and reading on all channels.
    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for case (let channel, let mode?) in channels { channel.close(mode: mode, promise: nil) }
    }

    /// Closes what is left once nobody serves connections any longer: those whose listener closed while they were
    /// accepted reach nobody.
    func closeUnserved() {
        let channels = state.withLock { state in
            state.isEnded = true
            return Array(state.channels.values)
        }
        for (channel, _) in channels { channel.close(promise: nil) }
    }
}

/// Counts the connections of line sockets.
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

extension ConnectionMetrics {
    /// The metrics of line connections.
    fileprivate init(ofLines registry: MetricsRegistry) {
        open = registry.gauge(
            "dnp_telemetry_lines_open_connections",
            help: "Connections to sockets of lines that are open."
        )
        waited = registry.counter(
            "dnp_telemetry_lines_connections_waited_total",
            help: "Connections to sockets of lines that had to wait, because as many were open as may be."
        )
        refused = registry.counter(
            "dnp_telemetry_lines_connections_refused_total",
            help: "Connections to sockets of lines that were closed because there were too many, by reason.",
            label: "reason",
            of: Refusal.self
        )
    }
}
