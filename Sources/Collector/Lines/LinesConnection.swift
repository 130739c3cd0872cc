// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Glibc
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import TelemetryEvents

/// One client of the socket of lines: reads, stores, and tells what is durable. Nothing more is read meanwhile.
struct LinesConnection: Sendable {
    private static let pause = Duration.milliseconds(20)

    let channel: any Channel
    let answering: AnswerSocket
    /// By which it is chosen to make room.
    let entry: ConnectionEntry?
    let writer: GroupCommit<IngestProcessor>
    /// How long a client may take none of its answers while they are waited for.
    let patience: Duration
    let metrics: LinesMetrics
    let log: Logger

    /// Serves the client until it has sent its last line, makes room, or the service stops.
    func run(
        _ input: NIOAsyncChannelInboundStream<LineInput>,
        _ decoder: LogDecoder,
        stop: SourceStop
    ) async {
        var stream = LineStream(decoder)
        var answers = LineAnswers()
        var makesRoom = false
        do throws(IntakeEnded) {
            var inputs = input.makeAsyncIterator()
            // An error ends it as the client's end does.
            while !makesRoom, !stop.isRequested, let input = try? await inputs.next() {
                entry?.isAtWork()
                switch input {
                case .bytes(let buffer):
                    if let piece = stream.take(Array(buffer.readableBytesView), readAt: now) {
                        try await store(piece, &answers, stop)
                    }
                case .silence:
                    if let piece = stream.settle(readAt: now) { try await store(piece, &answers, stop) }
                case .makesRoom:
                    makesRoom = true
                }
                if !makesRoom { entry?.isSilent(since: .now()) }
            }
            // What is not whole or not stored yet was not acknowledged: the client sends it again.
            if makesRoom { return await tell(&answers, until: .max, stop) }
            // Of a client that has died half a line may be all there is; it sends the whole one again.
            if !stop.isRequested, !answering.isAbandoned, let piece = stream.finishLine(readAt: now) {
                try await store(piece, &answers, stop)
            }
            if let piece = stream.settle(readAt: now) { try await store(piece, &answers, stop) }
            await tell(&answers, until: 0, stop)
        } catch {
            log.debug("a connection ends before its lines are stored: the service stops")
        }
    }

    private var now: Timestamp { Timestamp(microseconds: LedgerClock.system.now()) }

    private func store(
        _ piece: LineStream.Piece,
        _ answers: inout LineAnswers,
        _ stop: SourceStop
    ) async throws(IntakeEnded) {
        let origin = EventOrigin(.socket, .log)
        _ = try await writer.store(.events(piece.decoded, origin: origin, batch: nil), unless: stop)
        answers.add(durable: piece.settled, piece.decoded.rejections)
        await tell(&answers, until: LineAnswers.maximumWaiting, stop)
    }

    /// Sends what the client takes, and waits while more than `limit` bytes are left; for the last ones of all, a limit of 0,
    /// also for `ok`.
    private func tell(_ answers: inout LineAnswers, until limit: Int, _ stop: SourceStop) async {
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
                guard ContinuousClock.now < deadline, await stop.sleep(Self.pause) else {
                    if !stop.isRequested { giveUp(&answers) }
                    return
                }
            }
        }
    }

    /// Ends the connection of a client that takes no answers.
    private func giveUp(_ answers: inout LineAnswers) {
        metrics.stalled.add()
        answers.drop()
        channel.close(promise: nil)
    }
}

/// What a connection hears.
enum LineInput: Sendable {
    case bytes(ByteBuffer)
    /// Nothing has come for a while; told once after bytes.
    case silence
    /// It was silent longest when another client came at the limit.
    case makesRoom
}

/// Tells when a client is silent, and when it is to make room. A connection that is idle has no timer.
final class SilenceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = LineInput

    private let patience: TimeAmount
    private var lastRead = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    init(patience: TimeAmount) {
        self.patience = patience
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = .now()
        context.fireChannelRead(wrapInboundOut(.bytes(unwrapInboundIn(data))))
        if timer == nil { watch(context, patience) }
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
        guard event is ConnectionMakesRoom else { return context.fireUserInboundEventTriggered(event) }
        context.fireChannelRead(wrapInboundOut(.makesRoom))
        context.fireChannelReadComplete()
    }

    private func watch(_ context: ChannelHandlerContext, _ delay: TimeAmount) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            let left = self.patience - (.now() - self.lastRead)
            if left > .zero { return self.watch(context, left) }
            self.timer = nil
            context.fireChannelRead(self.wrapInboundOut(.silence))
            context.fireChannelReadComplete()
        }
    }
}

/// The writing side of a connection, without waiting.
///
/// It is a descriptor of its own: a channel whose client has gone before it took its answers would be closed by the first
/// failed write, with lines unread in the socket.
final class AnswerSocket: Sendable {
    enum Result: Equatable, Sendable {
        case sent(Int)
        case full
        case closed
    }

    private let descriptor: Int32

    /// - Parameter connection: the descriptor of a connection, which stays the caller's; nil when no other can be had.
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

    /// Whether the client has closed both directions, or has died.
    var isAbandoned: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
