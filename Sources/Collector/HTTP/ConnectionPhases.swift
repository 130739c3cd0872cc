// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The state of an HTTP connection that its deadlines depend on: pure, with the time as an input.
///
/// Every wait for a client is bounded: for the head of a request from its first byte (of a connection's first request
/// from the accept), for its body from the end of its head, for a response to be taken from its first byte, and for the
/// next request. No received byte extends a deadline. Within these bounds a body has to arrive and a response to be taken
/// at a least rate (``TransferPace``): a client too far behind it is closed, and one that is behind it at all is the first
/// to be evicted where connections wait for a place.
struct ConnectionPhases: Sendable {
    /// What a client was too slow with.
    enum Phase: String, CaseIterable, Sendable {
        case header, body, response, idle
    }

    /// What a client can stall.
    enum Transfer: String, CaseIterable, Sendable {
        case body, response
    }

    /// The time that a client has for each phase.
    struct Limits: Hashable, Sendable {
        var header: TimeAmount
        var body: TimeAmount
        var response: TimeAmount
        var idle: TimeAmount
        /// The least rate of a body and a response.
        var transfer: TransferLimits

        /// The deadline of a phase that has not begun is never earlier than this from now.
        var shortest: TimeAmount { min(header, body, response, idle, transfer.grace) }
    }

    /// What is due at a time.
    enum Verdict: Hashable, Sendable {
        /// Nothing until then.
        case wait(until: NIODeadline)
        /// Answer with the phase that timed out, or that the service stops, and end the connection.
        case refuse(Phase?)
        /// Answer that no place became free for the request, and end the connection.
        case shed
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
    /// Since when the request waits for a place.
    private var waitingSince: NIODeadline?
    /// The least rate, of transfers that begin from now on.
    var transfer: TransferLimits
    private var bodyPace: TransferPace
    private var answerPace: TransferPace

    /// A connection accepted now.
    init(at now: NIODeadline, transfer: TransferLimits) {
        reading = .head(since: now)
        (answeringSince, quietSince) = (now, now)
        self.transfer = transfer
        bodyPace = TransferPace(at: now, bytesPerSecond: transfer.bytesPerSecond)
        answerPace = bodyPace
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
        bodyPace = TransferPace(at: now, bytesPerSecond: transfer.bytesPerSecond)
        bodyPace.pause(at: now)
        unanswered += 1
        if isLast { endSoon() }
    }

    /// The service reads on: from now on it waits for the client.
    mutating func readBegan(at now: NIODeadline) {
        bodyPace.resume(at: now)
    }

    /// Bytes of a body are received. Until the service reads on, it does not wait for more.
    mutating func bodyCame(_ bytes: Int, at now: NIODeadline) {
        bodyPace.transferred(bytes, at: now)
        bodyPace.pause(at: now)
    }

    /// The request waits for a place: nothing of its body is read.
    mutating func awaitPlace(at now: NIODeadline) {
        if waitingSince == nil { waitingSince = now }
    }

    /// The request has a place.
    mutating func placeCame() {
        waitingSince = nil
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
        if begun == 0 {
            answeringSince = now
            answerPace = TransferPace(at: now, bytesPerSecond: transfer.bytesPerSecond)
        }
        begun += 1
        guard begun == unanswered else { return false }
        if isQuiescing { endSoon() }
        if case .body(_, isSmall: false) = reading { endSoon() }
        return ending != .none
    }

    /// The system has taken bytes of a response; `isAll` if no others wait to be taken.
    mutating func answerWent(_ bytes: Int, isAll: Bool, at now: NIODeadline) {
        if isAll {
            answerPace = TransferPace(at: now, bytesPerSecond: transfer.bytesPerSecond)
        } else {
            answerPace.transferred(bytes, at: now)
        }
    }

    /// The system has taken the last byte of a response.
    mutating func answerTaken(at now: NIODeadline) {
        begun = max(0, begun - 1)
        unanswered = max(0, unanswered - 1)
        (answeringSince, quietSince) = (now, now)
        answerPace = TransferPace(at: now, bytesPerSecond: transfer.bytesPerSecond)
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

    /// Whether a response is being sent.
    var isAnswering: Bool { begun > 0 }

    /// Until when the client has kept the least rate of what the service waits for; nil if it waits for nothing.
    func keptRate(at now: NIODeadline) -> NIODeadline? {
        if begun > 0 { return answerPace.paid(at: now) }
        return isReadingBody && canRefuse && !bodyPace.isPaused ? bodyPace.paid(at: now) : nil
    }

    /// Whether the connection can be evicted: no request is under way, or the client stalls it.
    func isEvictable(at now: NIODeadline) -> Bool {
        isSpare || keptRate(at: now).map { now - $0 >= transfer.stall } ?? false
    }

    /// Whether the next byte is the first of a request.
    var awaitsBytes: Bool { reading == .nothing || !hasSent }

    var isReadingBody: Bool {
        if case .body = reading { true } else { false }
    }

    /// Whether the request that is being read is the next to be answered.
    var canRefuse: Bool { begun == 0 && unanswered == (isReadingBody ? 1 : 0) && !isLingering }

    /// Whether the request that waits for a place is the only one.
    var canShed: Bool { waitingSince != nil && begun == 0 && unanswered == 1 && !isLingering }

    func verdict(at now: NIODeadline, _ limits: Limits) -> Verdict {
        guard let (deadline, verdict) = next(limits, now) else { return .wait(until: now + limits.shortest) }
        guard now >= deadline else { return .wait(until: min(deadline, now + limits.shortest)) }
        return verdict
    }

    /// The end of a connection whose request is late, or no longer waited for.
    private func late(_ phase: Phase?) -> Verdict { canRefuse && hasSent ? .refuse(phase) : .close(phase) }

    /// The next deadline, and what is due then.
    private func next(_ limits: Limits, _ now: NIODeadline) -> (NIODeadline, Verdict)? {
        if case .lingering(let close) = ending { return (close.end(limits.body, stop: quiescingSince), .close(nil)) }
        var first: (NIODeadline, Verdict)?
        func consider(_ deadline: NIODeadline, _ verdict: Verdict) {
            if first.map({ deadline < $0.0 }) ?? true { first = (deadline, verdict) }
        }
        if begun > 0 {
            consider(answeringSince + limits.response, .close(.response))
            consider(answerPace.paid(at: now) + limits.transfer.grace, .close(.response))
        }
        if let waitingSince { consider(waitingSince + limits.header, .shed) }
        switch reading {
        case .body(let since, _):
            consider(since + limits.body, late(.body))
            if canRefuse { consider(bodyPace.paid(at: now) + limits.transfer.grace, late(.body)) }
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
            idle: TimeAmount(current.idleTimeout),
            transfer: TransferLimits(
                bytesPerSecond: current.minimumTransferRate,
                grace: TimeAmount(current.transferGrace)
            )
        )
    }
}
