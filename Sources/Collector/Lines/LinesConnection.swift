// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
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
