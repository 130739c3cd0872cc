// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The state of an HTTP connection that its deadlines depend on: pure, with the time as an input.
///
/// Every wait for a client is bounded: for the head of a request from its first byte (of a connection's first request
/// from the accept), for its body from the end of its head, for a response to be taken from its first byte, and for the
/// next request. No received byte extends a deadline.
struct ConnectionPhases: Sendable {
    /// What a client was too slow with.
    enum Phase: String, CaseIterable, Sendable {
        case header, body, response, idle
    }

    /// The time that a client has for each phase.
    struct Limits: Hashable, Sendable {
        var header: TimeAmount
        var body: TimeAmount
        var response: TimeAmount
        var idle: TimeAmount

        /// The deadline of a phase that has not begun is never earlier than this from now.
        var shortest: TimeAmount { min(header, body, response, idle) }
    }

    /// What is due at a time.
    enum Verdict: Hashable, Sendable {
        /// Nothing until then.
        case wait(until: NIODeadline)
        /// Answer with the phase that timed out, or that the service stops, and end the connection.
        case refuse(Phase?)
        /// Close at once; nil: without a timeout.
        case close(Phase?)
    }

    private enum Reading: Hashable {
        case nothing
        case head(since: NIODeadline)
        /// The rest of a small body is waited for after the response.
        case body(since: NIODeadline, isSmall: Bool)
    }

    private enum Ending: Hashable {
        case none
        /// No request after those received is answered.
        case soon
        /// The last response is sent.
        case lingering(LingeringClose)
    }

    /// The time for the rest of a small body after the response, and for the rest of a head when the service stops.
    static let rest = TimeAmount.seconds(2)
    /// How long an idle connection stays open when the service stops: a request may be on its way.
    static let grace = TimeAmount.milliseconds(250)

    private var reading: Reading
    private var ending = Ending.none
    private var hasSent = false
    /// Requests whose head is received and whose response is not sent.
    private(set) var unanswered = 0
    /// Those of them whose response has begun.
    private var begun = 0
    private var answeringSince: NIODeadline
    private var quietSince: NIODeadline
    private var quiescingSince: NIODeadline?

    /// A connection accepted now.
    init(at now: NIODeadline) {
        reading = .head(since: now)
        (answeringSince, quietSince) = (now, now)
    }
}

// MARK: Transitions

extension ConnectionPhases {
    /// Bytes are received.
    mutating func bytesCame(at now: NIODeadline) {
        hasSent = true
        if reading == .nothing { reading = .head(since: now) }
    }

    /// The head of a request is complete.
    ///
    /// - Parameter hasSmallBody: whether the rest of its body is worth waiting for, if it is answered before.
    mutating func headCame(isLast: Bool, hasSmallBody: Bool = false, at now: NIODeadline) {
        reading = .body(since: now, isSmall: hasSmallBody)
        unanswered += 1
        if isLast { endSoon() }
    }

    /// The body of a request is complete.
    mutating func requestEnded(at now: NIODeadline) {
        reading = .nothing
        quietSince = now
    }

    /// A response begins. One that did not wait for the rest of a large body is the last: reading that is not worth a
    /// place.
    ///
    /// - Returns: whether it is the last, to be sent with `Connection: close`.
    @discardableResult
    mutating func answerBegan(at now: NIODeadline) -> Bool {
        if begun == 0 { answeringSince = now }
        begun += 1
        guard begun == unanswered else { return false }
        if isQuiescing { endSoon() }
        if case .body(_, isSmall: false) = reading { endSoon() }
        return ending != .none
    }

    /// The system has taken the last byte of a response.
    mutating func answerTaken(at now: NIODeadline) {
        begun = max(0, begun - 1)
        unanswered = max(0, unanswered - 1)
        (answeringSince, quietSince) = (now, now)
    }

    /// The service stops.
    mutating func quiesce(at now: NIODeadline) {
        quiescingSince = now
    }

    /// No request after those received is answered.
    mutating func endSoon() {
        if ending == .none { ending = .soon }
    }

    /// The last response is sent.
    mutating func beginLingering(at now: NIODeadline) {
        if !isLingering { ending = .lingering(LingeringClose(at: now)) }
    }

    /// Bytes are received after the last response.
    mutating func bytesThrownAway(_ count: Int, at now: NIODeadline) {
        guard case .lingering(var close) = ending else { return }
        close.bytesCame(count, at: now)
        ending = .lingering(close)
    }
}

// MARK: Questions

extension ConnectionPhases {
    var isLingering: Bool {
        if case .lingering = ending { true } else { false }
    }

    var isQuiescing: Bool { quiescingSince != nil }

    /// Whether received bytes belong to a request that is answered.
    var takesBytes: Bool { ending == .none || (ending == .soon && isReadingBody) }

    /// Whether the last response is sent.
    var hasEnded: Bool { ending == .soon && unanswered == 0 }

    /// Whether no request is under way; one whose head is incomplete does not count.
    var isSpare: Bool { isLingering || unanswered == 0 }

    /// Whether the next byte is the first of a request.
    var awaitsBytes: Bool { reading == .nothing || !hasSent }

    var isReadingBody: Bool {
        if case .body = reading { true } else { false }
    }

    /// Whether the request that is being read is the next to be answered.
    var canRefuse: Bool { begun == 0 && unanswered == (isReadingBody ? 1 : 0) && !isLingering }

    func verdict(at now: NIODeadline, _ limits: Limits) -> Verdict {
        guard let (deadline, verdict) = next(limits) else { return .wait(until: now + limits.shortest) }
        guard now >= deadline else { return .wait(until: min(deadline, now + limits.shortest)) }
        return verdict
    }

    /// The end of a connection whose request is late, or no longer waited for.
    private func late(_ phase: Phase?) -> Verdict { canRefuse && hasSent ? .refuse(phase) : .close(phase) }

    /// The next deadline, and what is due then.
    private func next(_ limits: Limits) -> (NIODeadline, Verdict)? {
        if case .lingering(let close) = ending { return (close.end(limits.body, stop: quiescingSince), .close(nil)) }
        var first: (NIODeadline, Verdict)?
        func consider(_ deadline: NIODeadline, _ verdict: Verdict) {
            if first.map({ deadline < $0.0 }) ?? true { first = (deadline, verdict) }
        }
        if begun > 0 { consider(answeringSince + limits.response, .close(.response)) }
        switch reading {
        case .body(let since, _):
            consider(since + limits.body, late(.body))
            if unanswered == 0 { consider(quietSince + Self.rest, .close(nil)) }
        case .head(let since) where unanswered == 0: consider(since + limits.header, late(.header))
        case .nothing where unanswered == 0: consider(quietSince + limits.idle, .close(.idle))
        default: break
        }
        if let quiescingSince, isSpare {
            if case .head(let since) = reading, hasSent {
                consider(max(quiescingSince, since) + Self.rest, late(nil))
            } else {
                consider(max(quiescingSince, quietSince) + Self.grace, .close(nil))
            }
        }
        return first
    }
}

/// The lingering close (RFC 9112, 9.6): how long input after the last response is discarded so that the client can read
/// it.
///
/// It lasts while the client sends at a fair rate, and ``patience`` longer. Pure, with the time as an input.
struct LingeringClose: Hashable, Sendable {
    /// The time within which a client has to send ``piece``.
    static let patience = TimeAmount.seconds(2)
    static let piece = 4 << 10

    private let since: NIODeadline
    /// When the last whole piece was received.
    private var lastPiece: NIODeadline
    private var bytes = 0

    init(at now: NIODeadline) {
        (since, lastPiece) = (now, now)
    }

    mutating func bytesCame(_ count: Int, at now: NIODeadline) {
        bytes += count
        guard bytes >= Self.piece else { return }
        (bytes, lastPiece) = (0, now)
    }

    /// - Parameters:
    ///   - limit: the longest duration.
    ///   - stop: since when the service stops; from then on it lasts for ``patience`` at most.
    func end(_ limit: TimeAmount, stop: NIODeadline?) -> NIODeadline {
        let end = min(lastPiece + Self.patience, since + limit)
        guard let stop else { return end }
        return min(end, max(since, stop) + Self.patience)
    }
}

extension LiveConfiguration {
    var phaseLimits: ConnectionPhases.Limits {
        let current = current
        return ConnectionPhases.Limits(
            header: TimeAmount(current.headerTimeout),
            body: TimeAmount(current.bodyTimeout),
            response: TimeAmount(current.responseTimeout),
            idle: TimeAmount(current.idleTimeout)
        )
    }
}
