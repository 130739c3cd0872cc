// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import MetricsRegistry
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import TextOutput

/// Holds a connection to its deadlines, answers what cannot be read, and ends it when the service stops: the edge of
/// ``ConnectionPhases``.
///
/// One scheduled task serves all deadlines. It is set no later than the shortest limit from now, so that no request sets
/// another one.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let entry: ConnectionEntry?
    private let table: ConnectionTable
    private let live: LiveConfiguration
    private let headers: ServerHeaders
    private let count: (Problem) -> Void
    private var phases: ConnectionPhases
    private var timer: (task: Scheduled<Void>, due: NIODeadline)?
    /// What is answered once the answers before it have gone.
    private var pending: Problem?
    private var isClosed = false

    /// - Parameter count: told of the answers that are given here.
    init(
        _ channel: any Channel,
        _ table: ConnectionTable,
        _ live: LiveConfiguration,
        headers: ServerHeaders,
        count: @escaping (Problem) -> Void
    ) {
        self.table = table
        self.live = live
        self.headers = headers
        self.count = count
        entry = table.entry(of: channel)
        phases = ConnectionPhases(at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if table.isStopping { phases.quiesce(at: .now()) }
        look(context)
    }

    func channelActive(context: ChannelHandlerContext) {
        entry?.hasBegun()
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        isOver()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isOver()
        context.fireChannelInactive()
    }

    private func isOver() {
        isClosed = true
        timer?.task.cancel()
        timer = nil
    }
}

// MARK: What comes

extension ConnectionHandler {
    /// Bytes came; false where they are thrown away.
    func bytesCame(_ count: Int) -> Bool {
        if phases.isLingering { phases.bytesThrownAway(count, at: .now()) }
        guard phases.takesBytes, pending == nil else { return false }
        if phases.awaitsBytes {
            let now = NIODeadline.now()
            phases.bytesCame(at: now)
            entry?.headBegins(at: now)
        }
        return true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phases.takesBytes, pending == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            entry?.isAtWork()
            phases.headCame(
                isLast: head.headerFields.closesConnection,
                hasSmallBody: head.headerFields.declaresSmallBody,
                at: .now()
            )
            if head.headerFields.expectsContinue { admitBody(of: head, context) }
        case .body:
            break
        case .end:
            phases.requestEnded(at: .now())
        }
        context.fireChannelRead(data)
    }

    /// Tells a client that waits for it to send the body (RFC 9110, 10.1.1), unless that is too large anyway.
    private func admitBody(of head: HTTPRequest, _ context: ChannelHandlerContext) {
        let declared = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        if phases.unanswered == 1, declared <= live.current.maximumBody {
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
        guard let problem = Problem(unreadable: error) else { return context.fireErrorCaught(error) }
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
            look(context)
        case is ConnectionMakesRoom:
            if phases.isSpare { context.close(promise: nil) } else { entry?.isAtWork() }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

// MARK: What goes

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !phases.isLingering else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind != .informational:
            context.write(wrapOutboundOut(.head(begun(head))), promise: promise)
        case .end:
            let taken = promise ?? context.eventLoop.makePromise()
            taken.futureResult.assumeIsolated().whenSuccess { self.answerTaken(context) }
            context.write(data, promise: taken)
        default:
            context.write(data, promise: promise)
        }
    }

    /// The head of an answer that begins; it says so where the connection closes after it.
    private func begun(_ head: HTTPResponse) -> HTTPResponse {
        let now = NIODeadline.now()
        // A stop is told to each connection in its turn; what is answered meanwhile knows of it.
        if table.isStopping, !phases.isQuiescing { phases.quiesce(at: now) }
        guard phases.answerBegan(at: now) else { return head }
        var last = head
        last.headerFields[.connection] = "close"
        return last
    }

    private func answerTaken(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let now = NIODeadline.now()
        phases.answerTaken(at: now)
        if let problem = pending, phases.canRefuse {
            pending = nil
            refuse(problem, context)
        } else if phases.hasEnded {
            end(context)
        } else if phases.isSpare {
            entry?.isSilent(since: now)
            if phases.isQuiescing || phases.isReadingBody { look(context) }
        }
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
            // The client is still to read the answer; the end comes soon.
            context.channel.closeFuture.cascade(to: promise)
        case .input, .all:
            abandonBody(context)
            context.close(promise: promise)
        }
    }
}

// MARK: Ends

extension ConnectionHandler {
    /// Answers in the place of the service, and ends the connection.
    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        if context.channel.isActive { count(problem) }
        var (head, body) = problem.lastAnswer
        headers.put(on: &head.headerFields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Sends nothing more, and throws away what still comes until the client closes or its time is up.
    private func end(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        phases.beginLingering(at: now)
        entry?.isSilent(since: now)
        abandonBody(context)
        context.close(mode: .output, promise: nil)
        if !isClosed {
            look(context)
            context.read()
        }
    }

    /// So that what has come of a body is not taken for all of it.
    private func abandonBody(_ context: ChannelHandlerContext) {
        if phases.isReadingBody { context.fireErrorCaught(BodyAbandoned()) }
    }

    /// Sees what is due, and when to look again.
    private func look(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let now = NIODeadline.now()
        switch phases.verdict(at: now, live.phaseLimits) {
        case .wait(let until):
            arm(until, context)
        case .refuse(let phase):
            if let phase { table.metrics.timeouts?[phase].add() }
            refuse(phase.map(Problem.tooSlow) ?? .stopping(), context)
        case .close(let phase):
            if let phase { table.metrics.timeouts?[phase].add() }
            abandonBody(context)
            context.close(promise: nil)
        }
    }

    private func arm(_ due: NIODeadline, _ context: ChannelHandlerContext) {
        if let timer {
            guard due < timer.due else { return }
            timer.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.timer = nil
            self.look(context)
        }
        timer = (task, due)
    }
}

/// The connection ended before a body did.
struct BodyAbandoned: Error {}

extension HTTPFields {
    fileprivate var closesConnection: Bool {
        guard let value = self[.connection] else { return false }
        return value == "close" || value.lowercased().split(separator: ",").contains { $0.trimmed == "close" }
    }

    /// Whether a body was announced of which the rest may still come once the request is answered.
    fileprivate var declaresSmallBody: Bool {
        guard let length = self[.contentLength].flatMap({ Int($0) }) else { return false }
        return length <= 64 << 10
    }

    fileprivate var expectsContinue: Bool {
        guard let value = self[.expect] else { return false }
        return value.lowercased() == "100-continue"
    }
}

/// Tells a connection's handler that bytes came, before they are made into requests.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.bytesCame(unwrapInboundIn(data).readableBytes) { context.fireChannelRead(data) }
    }
}

extension Problem {
    /// What a client was too slow with, while it can still be told.
    static func tooSlow(_ phase: ConnectionPhases.Phase) -> Problem {
        let (what, setting) =
            phase == .body ? ("body of the request", "--body-timeout") : ("head of the request", "--header-timeout")
        return Problem(
            status: .requestTimeout,
            type: "request-timeout",
            title: "Too slow",
            detail: "The \(what) did not come in time (see \(setting)); nothing of it was stored. "
                + "Try again, with fewer events in a request where the network is slow."
        )
    }

    static let headTooLarge = Problem(
        status: .requestHeaderFieldsTooLarge,
        type: "head-too-large",
        title: "Head too large",
        detail:
            "Expected a head of at most \(RequestHeadLimits.bytes >> 10) KiB and \(RequestHeadLimits.fields) fields."
    )

    static let unreadableRequest = Problem(
        status: .badRequest,
        type: "unreadable-request",
        title: "Unreadable request",
        detail: "Expected a request of HTTP/1.1; what came is none, or ended too early. Nothing of it was stored."
    )

    /// What is answered where a request cannot be read; nil where the connection failed.
    init?(unreadable error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: self = .headTooLarge
        case is HTTPParserError, is HTTP1TypeConversionError: self = .unreadableRequest
        default: return nil
        }
    }

    /// The answer after which the connection closes, without what every answer says of the server.
    var lastAnswer: (HTTPResponse, ByteBuffer) {
        let body = ByteBuffer(string: json)
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}

/// What the head of a request may have.
enum RequestHeadLimits {
    /// The names and values of all fields together, and the request's target, in bytes.
    static let bytes = 64 << 10
    static let fields = 200
}
