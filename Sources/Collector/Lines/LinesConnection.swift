// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Glibc
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import TelemetryEvents

/// Serves one client of a line socket: reads, stores, and acknowledges, one after the other.
struct LinesConnection: Sendable {
    /// Interval of retries while the client's receive buffer is full.
    private static let retryInterval = Duration.milliseconds(20)

    let channel: any Channel
    let answering: AnswerSocket
    let entry: ConnectionEntry?
    let writer: GroupCommit<IngestProcessor>
    /// How long sending waits for a client that reads none of its answers.
    let patience: Duration
    let anonymous: AnonymousDevice
    let metrics: LinesMetrics
    let log: Logger

    /// Serves the client until its last line, its eviction, or the stop of the service.
    func run(
        _ input: NIOAsyncChannelInboundStream<LineInput>,
        _ decoder: LogDecoder,
        pseudonyms: any Pseudonymising,
        stop: SourceStop
    ) async {
        var stream = LineStream(decoder, pseudonyms: pseudonyms)
        var answers = LineAnswers()
        var isEvicted = false
        do throws(IntakeEnded) {
            var inputs = input.makeAsyncIterator()
            // A read error ends the connection as end of file does.
            while !isEvicted, !stop.isRequested, let input = try? await inputs.next() {
                switch input {
                case .bytes(let buffer):
                    if let piece = stream.take(Array(buffer.readableBytesView), readAt: now) {
                        try await serve(piece, &answers, stop)
                    }
                case .idle:
                    if let piece = stream.flush(readAt: now) { try await serve(piece, &answers, stop) }
                case .eviction:
                    metrics.atTheLimit.refused[.evicted].add()
                    isEvicted = true
                }
            }
            // Incomplete and unstored lines were not acknowledged: the client sends them again.
            if isEvicted { return await send(&answers, until: .max, stop) }
            // A client that has died may have sent half a line; it sends the whole line again.
            if !stop.isRequested, !answering.isAbandoned, let piece = stream.finishLine(readAt: now) {
                try await store(piece, &answers, stop)
            }
            if let piece = stream.flush(readAt: now) { try await store(piece, &answers, stop) }
            await send(&answers, until: 0, stop)
        } catch {
            log.debug("a connection ends before its lines are stored: the service stops")
        }
    }

    private var now: Timestamp { Timestamp(microseconds: LedgerClock.system.now()) }

    /// Stores lines. Only events keep the connection from being evicted: a client that drips bytes, or lines that tell
    /// nothing, is as good as silent.
    private func serve(
        _ piece: LineStream.Piece,
        _ answers: inout LineAnswers,
        _ stop: SourceStop
    ) async throws(IntakeEnded) {
        let hasEvents = piece.decoded.events.count > 0
        if hasEvents { entry?.becomeBusy() }
        try await store(piece, &answers, stop)
        if hasEvents { entry?.becomeIdle(at: .now()) }
    }

    private func store(
        _ piece: LineStream.Piece,
        _ answers: inout LineAnswers,
        _ stop: SourceStop
    ) async throws(IntakeEnded) {
        let origin = EventOrigin(.socket, .log)
        _ = try await writer.store(.events(piece.decoded, origin: origin, batch: nil), unless: stop)
        note(piece, &answers)
        answers.add(durable: piece.settled, piece.decoded.rejections)
        await send(&answers, until: LineAnswers.maximumWaiting, stop)
    }

    /// Says once where the lines cannot be of one device.
    private func note(_ piece: LineStream.Piece, _ answers: inout LineAnswers) {
        guard !answers.hasNote else { return }
        let doubts = piece.isAnonymous ? anonymous.doubts(piece.decoded) : piece.decoded.doubts
        if doubts.isEmpty { return }
        anonymous.warn(doubts, of: .lineSocket)
        answers.add(note: LineSender.lineSocket.sentence(doubts))
    }

    /// Sends what the client takes, and waits while more than `limit` bytes are left; with a limit of 0 also for `ok`.
    private func send(_ answers: inout LineAnswers, until limit: Int, _ stop: SourceStop) async {
        var deadline = ContinuousClock.now + patience
        while true {
            let bytes = answers.next()
            if bytes.isEmpty { return }
            switch answering.send(bytes) {
            case .sent(let count):
                answers.sent(count)
                deadline = .now + patience
            case .closed: return answers.drop()
            case .full:
                if limit > 0, answers.waiting <= limit { return }
                guard ContinuousClock.now < deadline, await stop.sleep(Self.retryInterval) else {
                    if !stop.isRequested { closeStalled(&answers) }
                    return
                }
            }
        }
    }

    /// Closes the connection of a client that reads no answers.
    private func closeStalled(_ answers: inout LineAnswers) {
        metrics.stalled.add()
        answers.drop()
        channel.close(promise: nil)
    }
}

/// The input of a connection.
enum LineInput: Sendable {
    case bytes(ByteBuffer)
    /// Nothing was received for a while; once after bytes.
    case idle
    /// It was idle for longest when another client came at the limit.
    case eviction
}

/// Turns idle time and evictions into input. An idle connection has no timer.
final class IdleHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = LineInput

    private let delay: TimeAmount
    private var lastRead = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    init(delay: TimeAmount) {
        self.delay = delay
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = .now()
        context.fireChannelRead(wrapInboundOut(.bytes(unwrapInboundIn(data))))
        if timer == nil { startTimer(context, delay) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ConnectionEviction else { return context.fireUserInboundEventTriggered(event) }
        context.fireChannelRead(wrapInboundOut(.eviction))
        context.fireChannelReadComplete()
    }

    private func startTimer(_ context: ChannelHandlerContext, _ time: TimeAmount) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            let left = self.delay - (.now() - self.lastRead)
            if left > .zero { return self.startTimer(context, left) }
            self.timer = nil
            context.fireChannelRead(self.wrapInboundOut(.idle))
            context.fireChannelReadComplete()
        }
    }
}

/// The non-blocking writing side of a connection.
///
/// It is a descriptor of its own: the first failed write to a client that has closed would close the channel, with
/// lines unread in the socket.
final class AnswerSocket: Sendable {
    enum Result: Equatable, Sendable {
        case sent(Int)
        case full
        case closed
    }

    private let descriptor: Int32

    /// - Parameter connection: the descriptor of a connection, still owned by the caller; nil if it can't be
    ///   duplicated.
    init?(_ connection: Int32) {
        let own = fcntl(connection, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        descriptor = own
    }

    deinit { close(descriptor) }

    func send(_ bytes: ArraySlice<UInt8>) -> Result {
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
            }
            if count >= 0 { return .sent(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            default: return .closed
            }
        }
    }

    /// Whether the client has closed both directions or died.
    var isAbandoned: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
