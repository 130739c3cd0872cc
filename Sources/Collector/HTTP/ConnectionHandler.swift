// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import MetricsRegistry
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Enforces a connection's deadlines, answers unreadable requests, and ends the connection when the service stops.
///
/// ``ConnectionPhases`` decides; this handler does the I/O. One scheduled task serves all deadlines: it is due no later
/// than the shortest limit from now, so that no request has to schedule another one.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let entry: ConnectionEntry?
    private let table: ConnectionTable
    private let live: LiveConfiguration
    private let headers: ServerHeaders
    private let count: (ConnectionEvent) -> Void
    private var phases: ConnectionPhases
    private var timer = ConnectionTimer()
    /// To be answered once the responses before it are sent.
    private var pending: Problem?
    private var unreadable: UnreadableRequest
    private var isClosed = false
    private var place: RequestPlace
    private var answer = AnswerProgress()

    /// - Parameters:
    ///   - count: called for each event.
    ///   - unknownMethod: the answer to a method that the parser does not know, by the target; nil if there is none
    ///     better than 400.
    init(
        _ channel: any Channel,
        _ table: ConnectionTable,
        _ live: LiveConfiguration,
        _ served: ServedPaths,
        headers: ServerHeaders,
        count: @escaping (ConnectionEvent) -> Void,
        unknownMethod: @escaping (Substring) -> Problem? = { _ in nil }
    ) {
        unreadable = UnreadableRequest(unknownMethod: unknownMethod)
        self.table = table
        self.live = live
        self.headers = headers
        self.count = count
        let entry = table.entry(of: channel)
        self.entry = entry
        place = RequestPlace(entry, in: table, served)
        phases = ConnectionPhases(at: .now(), transfer: live.phaseLimits.transfer)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if table.isStopping { phases.quiesce(at: .now()) }
        check(context)
    }

    func channelActive(context: ChannelHandlerContext) {
        entry?.begin()
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    private func finish() {
        isClosed = true
        place.drop()
        timer.cancel()
    }
}

// MARK: Inbound

extension ConnectionHandler {
    /// Passes received bytes on to be parsed, unless they are to be discarded.
    func receive(_ bytes: ByteBuffer, parse: () -> Void) {
        let isFirst = phases.awaitsBytes
        guard bytesCame(bytes.readableBytes) else { return }
        if isFirst { unreadable.begin(bytes) }
        parse()
        unreadable.end()
    }

    /// Notes received bytes, before they are parsed; false if they are to be discarded.
    func bytesCame(_ count: Int) -> Bool {
        if phases.isLingering { phases.bytesThrownAway(count, at: .now()) }
        guard phases.takesBytes, pending == nil else { return false }
        if phases.awaitsBytes {
            let now = NIODeadline.now()
            phases.bytesCame(at: now)
            entry?.beginHead(at: now)
        } else if phases.isReadingBody {
            phases.bodyCame(count, at: .now())
        }
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phases.takesBytes, pending == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            unreadable.end()
            let now = NIODeadline.now()
            entry?.transfer(until: now + phases.transfer.stall)
            let demands = ConnectionDemands(head)
            phases.headCame(isLast: demands.closesConnection, hasSmallBody: demands.hasSmallBody, at: now)
            guard !place.isQueued, takePlace(for: head, context, at: now) else { break }
            if demands.expectsContinue { sendContinue(demands, context) }
        case .body:
            break
        case .end:
            entry?.becomeBusy()
            phases.requestEnded(at: .now())
        }
        guard !phases.isLingering, pending == nil else { return }
        if !place.hold(data) { context.fireChannelRead(data) }
    }

    func read(context: ChannelHandlerContext) {
        guard !place.holdRead() else { return }
        if phases.isReadingBody { phases.readBegan(at: .now()) }
        context.read()
    }

    /// Sends `100 Continue` (RFC 9110, 10.1.1), unless the body is too large anyway.
    private func sendContinue(_ demands: ConnectionDemands, _ context: ChannelHandlerContext) {
        if phases.unanswered == 1, demands.declaredBody ?? 0 <= live.current.maximumBody {
            context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        } else {
            phases.endSoon()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if phases.isLingering { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if phases.isLingering || pending != nil { return }
        guard let problem = unreadable.problem(of: error) else { return context.fireErrorCaught(error) }
        guard phases.takesBytes else { return }
        if phases.canRefuse {
            refuse(problem, context)
        } else if phases.unanswered == 0 {
            end(context)
        } else {
            pending = problem
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            phases.quiesce(at: .now())
            continueQueued(context)
            check(context)
        case is ConnectionEviction:
            evict(context)
        case is PlaceGranted:
            continueQueued(context)
        case ChannelEvent.inputClosed where pending != nil:
            // The service would take a body that ends here for complete; it is failed once the problem is told.
            break
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

// MARK: Places

extension ConnectionHandler {
    /// Takes a place for a request. Without one it is queued or refused, unless it is a scrape or a health check.
    ///
    /// - Returns: whether the request goes on.
    private func takePlace(for head: HTTPRequest, _ context: ChannelHandlerContext, at now: NIODeadline) -> Bool {
        switch place.claim(for: head, context.channel, at: now) {
        case .granted: return true
        case .queued where phases.canRefuse:
            phases.awaitPlace(at: now)
            place.queue()
            check(context)
        case .queued, .refused:
            shed(context)
        }
        return false
    }

    /// Goes on with a request that has waited for its place.
    private func continueQueued(_ context: ChannelHandlerContext) {
        guard let (parts, reads) = place.release() else { return }
        phases.placeCame()
        for part in parts {
            if case .head(let head) = unwrapInboundIn(part) {
                let demands = ConnectionDemands(head)
                if demands.expectsContinue { sendContinue(demands, context) }
            }
            context.fireChannelRead(part)
        }
        if phases.isReadingBody { entry?.transfer(until: .now() + phases.transfer.stall) }
        context.fireChannelReadComplete()
        if reads { read(context: context) }
    }

    /// Refuses a request for which there is no place.
    private func shed(_ context: ChannelHandlerContext) {
        count(.shed)
        if phases.canRefuse || phases.canShed {
            refuse(.noPlace(), lingers: false, context)
        } else if place.isQueued {
            // Others came behind it, and none of them can be answered.
            abandonBody(context)
            context.close(promise: nil)
        } else {
            pending = .noPlace()
        }
    }

    /// Closes the connection if no request is under way or the client stalls it; else another one is evicted.
    private func evict(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let now = NIODeadline.now()
        noteTakenBytes(context, at: now)
        guard phases.isEvictable(at: now) else {
            if let kept = phases.keptRate(at: now) ?? (phases.isReadingBody ? now : nil) {
                entry?.transfer(until: kept + phases.transfer.stall)
            } else {
                entry?.becomeBusy()
            }
            return table.evictAnother(at: now)
        }
        table.metrics.refused[.evicted].add()
        if !phases.isSpare { count(.evicted(phases.isAnswering ? .response : .body)) }
        guard phases.isReadingBody, phases.canRefuse else {
            abandonBody(context)
            return context.close(promise: nil)
        }
        refuse(.stalled(), lingers: false, context)
    }

    /// Notes how much of the responses the client, or at least the system, has taken.
    private func noteTakenBytes(_ context: ChannelHandlerContext, at now: NIODeadline) {
        guard phases.isAnswering else { return }
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        phases.answerWent(answer.took(allBut: waiting), isAll: waiting == 0, at: now)
    }
}

// MARK: Outbound

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !phases.isLingering else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind != .informational:
            context.write(wrapOutboundOut(.head(beginResponse(head))), promise: promise)
        case .body(let buffer):
            answer.wrote(buffer.readableBytes)
            context.write(data, promise: promise)
        case .end:
            let taken = promise ?? context.eventLoop.makePromise()
            taken.futureResult.assumeIsolated().whenSuccess { self.responseSent(context) }
            context.write(data, promise: taken)
        default:
            context.write(data, promise: promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        // What the system takes at once is not the client's progress later on.
        if phases.isAnswering { noteTakenBytes(context, at: .now()) }
    }

    /// The head to send: with `Connection: close` if this response is the last.
    private func beginResponse(_ head: HTTPResponse) -> HTTPResponse {
        let now = NIODeadline.now()
        if !phases.isAnswering { answer = AnswerProgress() }
        entry?.transfer(until: now + phases.transfer.stall)
        // The event that quiesces this connection may still be on its way.
        if table.isStopping, !phases.isQuiescing { phases.quiesce(at: now) }
        guard phases.answerBegan(at: now) else { return head }
        var last = head
        last.headerFields[.connection] = "close"
        return last
    }

    private func responseSent(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let now = NIODeadline.now()
        phases.answerTaken(at: now)
        if pending != nil, phases.canRefuse {
            // This runs within a flush, which sends nothing that is written now before the connection closes.
            context.eventLoop.assumeIsolated().execute { self.refusePending(context) }
        } else if phases.hasEnded {
            end(context)
        } else if phases.isSpare {
            entry?.becomeIdle(at: now)
            if phases.isQuiescing || phases.isReadingBody { check(context) }
        }
    }

    /// Answers a request whose problem was found while one before it was answered.
    private func refusePending(_ context: ChannelHandlerContext) {
        guard !isClosed, let problem = pending, phases.canRefuse else { return }
        pending = nil
        refuse(problem, context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            phases.endSoon()
            if phases.isLingering {
                promise?.succeed()
            } else if phases.hasEnded {
                promise?.succeed()
                end(context)
            } else {
                context.close(mode: .output, promise: promise)
            }
        case .all where phases.isLingering && !isClosed:
            // The client has yet to read the response; the lingering close ends soon.
            context.channel.closeFuture.cascade(to: promise)
        case .input, .all:
            abandonBody(context)
            context.close(promise: promise)
        }
    }
}

// MARK: Ending

extension ConnectionHandler {
    /// Answers in place of the service, and ends the connection.
    ///
    /// - Parameter lingers: whether the connection keeps its place until the client has read the answer.
    private func refuse(_ problem: Problem, lingers: Bool = true, _ context: ChannelHandlerContext) {
        place.drop()
        if context.channel.isActive { count(.refused(problem)) }
        var (head, body) = problem.closingResponse
        headers.put(on: &head.headerFields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        guard lingers else {
            phases.beginLingering(at: .now())
            abandonBody(context)
            return context.close(promise: nil)
        }
        end(context)
    }

    /// Begins the lingering close: sends nothing more, and discards input until the client closes or its time is up.
    private func end(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        phases.beginLingering(at: now)
        entry?.becomeIdle(at: now)
        abandonBody(context)
        context.close(mode: .output, promise: nil)
        if !isClosed {
            check(context)
            context.read()
        }
    }

    /// Fails the body that is being read, so that a truncated one is not taken for complete.
    private func abandonBody(_ context: ChannelHandlerContext) {
        if phases.isReadingBody { context.fireErrorCaught(BodyAbandoned()) }
    }

    /// Enforces what is due, and schedules the next check.
    private func check(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let (now, limits) = (NIODeadline.now(), live.phaseLimits)
        phases.transfer = limits.transfer
        noteTakenBytes(context, at: now)
        switch phases.verdict(at: now, limits) {
        case .wait(let until):
            timer.arm(until, on: context.eventLoop) {
                self.timer.expire()
                self.check(context)
            }
        case .refuse(let phase):
            if let phase { count(.timedOut(phase)) }
            refuse(phase.map(Problem.tooSlow) ?? .stopping(), context)
        case .shed:
            shed(context)
        case .close(let phase):
            if let phase { count(.timedOut(phase)) }
            abandonBody(context)
            context.close(promise: nil)
        }
    }
}
