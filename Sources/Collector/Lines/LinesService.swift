// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
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

    private let listeners: [BoundListener]
    private let writer: GroupCommit<IngestProcessor>
    private let decoder: LogDecoder
    private let slots: ConnectionSlots
    private let patience: Duration
    private let metrics: LinesMetrics
    private let log: Logger
    private let stop = SourceStop()
    private let open = OpenChannels()

    /// - Parameters:
    ///   - listeners: what is accepted from; closed in the end.
    ///   - decoder: what each connection begins with.
    ///   - maximumConnections: how many are served at once; more wait to be accepted.
    ///   - patience: how long a client may take none of its answers while they are waited for.
    init(
        _ listeners: [BoundListener],
        writer: GroupCommit<IngestProcessor>,
        decoder: LogDecoder,
        maximumConnections: Int,
        patience: Duration,
        metrics: LinesMetrics,
        log: Logger
    ) {
        self.listeners = listeners
        self.writer = writer
        self.decoder = decoder
        self.patience = patience
        self.metrics = metrics
        self.log = log
        slots = ConnectionSlots(maximumConnections)
    }

    /// Where it listens.
    var addresses: [ListeningAddress] {
        listeners.map { ListeningAddress(place: $0.place, services: .lines, scheme: "unix") }
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for listener in listeners { group.addTask { await self.serve(listener) } }
                group.addTask { try? await gracefulShutdown() }
            }
        } onGracefulShutdown: {
            self.stop.request()
            self.open.close()
        }
    }

    /// Sockets as the configuration asks for them.
    convenience init(
        _ listeners: [BoundListener],
        _ configuration: ServeConfiguration,
        room: LedgerRoom,
        writer: GroupCommit<IngestProcessor>,
        metrics: LinesMetrics,
        log: Logger
    ) {
        self.init(
            listeners,
            writer: writer,
            decoder: LogDecoder(
                configuration.logOptions(ofSource: "socket of lines", room.key),
                pseudonyms: room.key,
                identityKey: room.identityKey
            ),
            maximumConnections: configuration.maximumConnections,
            patience: configuration.responseTimeout,
            metrics: metrics,
            log: log
        )
    }

    private func serve(_ listener: BoundListener) async {
        defer { listener.file?.remove() }
        do {
            let server = try await accept(listener)
            open.add(server.channel, isServer: true)
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    var connections = connections.makeAsyncIterator()
                    while let connection = try await connections.next() {
                        guard await slots.take(unless: stop) else {
                            connection.channel.channel.close(promise: nil)
                            break
                        }
                        group.addTask {
                            await self.serve(connection)
                            self.slots.giveBack()
                        }
                    }
                }
            }
        } catch {
            if !stop.isRequested { log.error("the socket of lines at \(listener.place) is given up: \(error)") }
        }
    }

    private func serve(_ connection: Connection) async {
        let channel = connection.channel.channel
        metrics.connections.add()
        metrics.open.add(1)
        open.add(channel, isServer: false)
        defer {
            open.remove(channel)
            metrics.open.add(-1)
        }
        let client = LinesConnection(
            channel: channel,
            answering: connection.answering,
            writer: writer,
            patience: patience,
            metrics: metrics,
            log: log
        )
        try? await connection.channel.executeThenClose { input in await client.run(input, decoder, stop: stop) }
    }

    private func accept(_ listener: BoundListener) async throws -> NIOAsyncChannel<Connection, Never> {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: ListeningSockets.backlog)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(AcceptBackoffHandler(), AcceptErrorHandler())
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
                let pipeline = channel.pipeline.syncOperations
                let answering = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                    AnswerSocket($0)
                }
                guard let answering = answering ?? nil else { throw ChannelError.ioOnClosedChannel }
                try pipeline.addHandler(SilenceHandler(patience: Self.silence))
                let wrapped = try NIOAsyncChannel<LineInput, Never>(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(backPressureStrategy: strategy)
                )
                return Connection(channel: wrapped, answering: answering)
            }
        }
    }
}

/// Keeps a listener going when a connection could not be accepted: too many files are open, or the client has gone.
private final class AcceptErrorHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError { return }
        context.fireErrorCaught(error)
    }
}
