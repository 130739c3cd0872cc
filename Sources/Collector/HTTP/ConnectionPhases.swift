// SPDX-License-Identifier: Apache-2.0

internal import LogValidation
internal import NIOCore

/// What a connection does, as far as a deadline goes by it: pure, with the time as an input.
///
/// Every wait for a client is bounded: for the head of a request from its first byte (of a connection's first request from
/// the moment that it was accepted), for its body from the end of its head, for an answer to be taken from its first byte,
/// and for the next request. No byte that comes puts a deadline off.
struct ConnectionPhases: Sendable {
    /// What a client was too slow with.
    enum Phase: String, CaseIterable, Sendable {
        case header, body, response, idle
    }

    /// How long a client may take for each.
    struct Limits: Hashable, Sendable {
        var header: TimeAmount
        var body: TimeAmount
        var response: TimeAmount
        var idle: TimeAmount

        /// The shortest: the deadline of what has not begun yet is never earlier than this from now.
        var shortest: TimeAmount { min(header, body, response, idle) }
    }

    /// What is to be done about the time that has passed.
    enum Verdict: Hashable, Sendable {
        /// Nothing until then.
        case wait(until: NIODeadline)
        /// The client is told what it was too slow with, or that the service stops, and the connection ends.
        case refuse(Phase?)
        /// The connection ends at once; nil: it was at its end.
        case close(Phase?)
    }

    private enum Reading: Hashable {
        case nothing
        case head(since: NIODeadline)
        /// Where it is small, what is left of it once the request is answered is waited for.
        case body(since: NIODeadline, isSmall: Bool)
    }

    private enum Ending: Hashable {
        case none
        /// No request behind those that have come is answered.
        case soon
        /// The last answer has gone.
        case lingering(Linger)
    }

    /// How long the rest of a small body may take after the answer, and the rest of a head when the service stops.
    static let rest = TimeAmount.seconds(2)
    /// How long a connection without a request stays when the service stops: one may be under way.
    static let grace = TimeAmount.milliseconds(250)

    private var reading: Reading
    private var ending = Ending.none
    private var hasSent = false
    /// Requests whose head has come and whose answer has not been taken.
    private(set) var unanswered = 0
    /// Those of them whose answer has begun.
    private var begun = 0
    private var answeringSince: NIODeadline
    private var quietSince: NIODeadline
    private var quiescingSince: NIODeadline?

    /// A connection that was accepted now.
    init(at now: NIODeadline) {
        reading = .head(since: now)
        (answeringSince, quietSince) = (now, now)
    }
}

extension ConnectionPhases {
    /// Bytes came.
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

    /// The first byte of an answer is on its way. One that did not wait for a large body is the last: the rest of that is
    /// not worth a place.
    ///
    /// - Returns: whether it is the last, which it says.
    @discardableResult
    mutating func answerBegan(at now: NIODeadline) -> Bool {
        if begun == 0 { answeringSince = now }
        begun += 1
        guard begun == unanswered else { return false }
        if isQuiescing { endSoon() }
        if case .body(_, isSmall: false) = reading { endSoon() }
        return ending != .none
    }

    /// The system has taken the last byte of an answer.
    mutating func answerTaken(at now: NIODeadline) {
        begun = max(0, begun - 1)
        unanswered = max(0, unanswered - 1)
        (answeringSince, quietSince) = (now, now)
    }

    /// The service stops.
    mutating func quiesce(at now: NIODeadline) {
        quiescingSince = now
    }

    /// No request behind those that have come is answered.
    mutating func endSoon() {
        if ending == .none { ending = .soon }
    }

    /// The last answer has gone.
    mutating func beginLingering(at now: NIODeadline) {
        if !isLingering { ending = .lingering(Linger(at: now)) }
    }

    /// Bytes came behind the last answer.
    mutating func bytesThrownAway(_ count: Int, at now: NIODeadline) {
        guard case .lingering(var linger) = ending else { return }
        linger.bytesCame(count, at: now)
        ending = .lingering(linger)
    }
}

extension ConnectionPhases {
    var isLingering: Bool {
        if case .lingering = ending { true } else { false }
    }

    var isQuiescing: Bool { quiescingSince != nil }

    /// Whether what comes belongs to a request that is answered.
    var takesBytes: Bool { ending == .none || (ending == .soon && isReadingBody) }

    /// Whether no answer is to follow on those that have gone.
    var hasEnded: Bool { ending == .soon && unanswered == 0 }

    /// Whether no request is under way: none is, or its head has not come wholly, or it is answered.
    var isSpare: Bool { isLingering || unanswered == 0 }

    /// Whether the next byte is the first of a request.
    var awaitsBytes: Bool { reading == .nothing || !hasSent }

    var isReadingBody: Bool {
        if case .body = reading { true } else { false }
    }

    /// Whether the request that is being read can still be answered, and is the next to be.
    var canRefuse: Bool { begun == 0 && unanswered == (isReadingBody ? 1 : 0) && !isLingering }

    func verdict(at now: NIODeadline, _ limits: Limits) -> Verdict {
        guard let (deadline, verdict) = next(limits) else { return .wait(until: now + limits.shortest) }
        guard now >= deadline else { return .wait(until: min(deadline, now + limits.shortest)) }
        return verdict
    }

    /// The end of one who is too slow to say what it wants, or of whom the service waits for no longer.
    private func late(_ phase: Phase?) -> Verdict { canRefuse && hasSent ? .refuse(phase) : .close(phase) }

    /// The first deadline, and what is to be done then.
    private func next(_ limits: Limits) -> (NIODeadline, Verdict)? {
        if case .lingering(let linger) = ending { return (linger.end(limits.body, stop: quiescingSince), .close(nil)) }
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

/// How long what comes behind the last answer is thrown away, so that the client can read the answer (RFC 9112, 9.6): as
/// long as a client goes on sending in earnest, and a moment for one that does not. Pure, with the time as an input.
struct Linger: Hashable, Sendable {
    /// How long a client may send nothing, or as good as nothing.
    static let patience = TimeAmount.seconds(2)
    /// So much within that time is in earnest.
    static let piece = 4 << 10

    private let since: NIODeadline
    /// When the last whole piece had come.
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
    ///   - most: how long it lasts at most.
    ///   - stop: since when the service stops, which waits for nobody longer than for one who sends nothing.
    func end(_ most: TimeAmount, stop: NIODeadline?) -> NIODeadline {
        let end = min(lastPiece + Self.patience, since + most)
        guard let stop else { return end }
        return min(end, max(since, stop) + Self.patience)
    }
}
