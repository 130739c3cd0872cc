// SPDX-License-Identifier: Apache-2.0

internal import Hashing
internal import NIOCore

/// What goes wrong with a batch on its way, on purpose and once.
package struct DeliveryFaults: Equatable, Sendable {
    /// The connection breaks while it is sent for the first time.
    package var losesRequest = false
    /// Its answer is lost.
    package var losesAnswer = false
    /// Its answer is lost, and it is repeated in two pieces.
    package var splits = false
    /// It is sent again although it was acknowledged.
    package var repeats = false
    /// Where it breaks, in parts of a million.
    package var cut: Int64 = 500_000

    package init() {}
}

/// One request of a delivery.
package struct DeliveryRequest: Sendable {
    /// How the request is lost on purpose.
    enum Loss: Sendable {
        /// While it is sent, after so many parts of a million.
        case whileSending(partsPerMillion: Int64)
        case answer
    }

    let lane: Int
    let batch: SendBatch
    let loss: Loss?
}

/// What came of a request.
package struct DeliveryReply: Sendable {
    enum Kind: Sendable {
        case answer(status: Int, BatchOutcome)
        case noAnswer(Unreachable)
        /// The request was to be lost.
        case lost
    }

    let kind: Kind
}

/// Sends the batches of many clients: those of one lane in their order and one at a time, those of several lanes side by
/// side. It does no I/O and takes the time since some start.
///
/// Arrival is open: a batch is due when its client has it, whatever the collector does, and its latency is counted from
/// then on. What waits is bounded; where the bound keeps a client from handing over a batch in time, the account says so.
package struct ParallelDelivery: Sendable {
    package struct Limits: Sendable {
        /// How many requests are under way at once.
        package var requests = 64
        /// How many batches may be unfinished.
        package var batches = 4_096
        /// How long after its first failure a batch is given up.
        package var retryFor = Duration.seconds(300)

        package init() {}
    }

    private struct Step: Sendable {
        let batch: SendBatch
        var loss: DeliveryRequest.Loss?
        /// Whether the batch was acknowledged before.
        var isRepeat = false
    }

    /// A batch on its way.
    private struct Parcel: Sendable {
        let due: Duration
        /// What is to be done, the next step last.
        var steps: [Step]
        var backoff: SendBackoff
    }

    private let limits: Limits
    /// The batches of each lane, the one under way first.
    private var lanes: [Int: CircularBuffer<Parcel>] = [:]
    /// Lanes whose first batch can be sent.
    private var ready = CircularBuffer<Int>()
    /// Lanes whose first batch waits for its next attempt.
    private var pausing: [(until: Duration, lane: Int)] = []
    private var underWay = 0
    /// How many batches are not finished.
    package private(set) var unfinished = 0
    /// Why it ended before everything was sent; nil until then.
    package private(set) var ending: SendResult.Ending?
    /// Why requests are repeated at present; nil where the last answer was as it should be.
    package private(set) var trouble: String?
    /// What was sent so far.
    package private(set) var account = DeliveryAccount()

    package init(_ limits: Limits) { self.limits = limits }

    /// Whether another batch may be added.
    package var hasRoom: Bool { unfinished < limits.batches && ending == nil }

    /// Whether no request is under way, and none will be.
    package var isIdle: Bool { underWay == 0 && (unfinished == 0 || ending != nil) }

    /// When a batch that waits for its next attempt is sent; nil where none waits.
    package var nextAttempt: Duration? { pausing.lazy.map(\.until).min() }

    /// Adds lines of JSON that are due, behind those of the same lane.
    ///
    /// - Parameter heldFor: how long there was no room for it.
    package mutating func add(
        _ body: [UInt8],
        lane: Int,
        due: Duration,
        faults: DeliveryFaults = DeliveryFaults(),
        heldFor: Duration = .zero
    ) {
        if heldFor > .zero { account.hold(for: heldFor) }
        // The same content has the same key, so that a fleet that is sent again counts nothing twice.
        let key = "simulate-" + SHA256Hash.digest(body).hexadecimal
        let batch = SendBatch(format: .lines, body: body, origin: .lines([]), key: key)
        let parcel = Parcel(
            due: due,
            steps: Self.steps(of: batch, faults).reversed(),
            backoff: SendBackoff(limit: limits.retryFor)
        )
        unfinished += 1
        if lanes[lane] == nil { ready.append(lane) }
        lanes[lane, default: CircularBuffer()].append(parcel)
    }

    private static func steps(of batch: SendBatch, _ faults: DeliveryFaults) -> [Step] {
        let whole = Step(batch: batch)
        var steps: [Step] = []
        if faults.losesRequest {
            steps.append(Step(batch: batch, loss: .whileSending(partsPerMillion: faults.cut)))
        }
        if faults.losesAnswer { steps.append(Step(batch: batch, loss: .answer)) }
        if faults.splits, let (first, second) = batch.pieces(at: faults.cut) {
            steps += [Step(batch: batch, loss: .answer), Step(batch: first), Step(batch: second)]
        } else {
            steps.append(whole)
        }
        if faults.repeats { steps.append(Step(batch: batch, isRepeat: true)) }
        return steps
    }

    /// The next request to be sent now; nil where there is none.
    package mutating func next(now: Duration) -> DeliveryRequest? {
        guard ending == nil, underWay < limits.requests else { return nil }
        resume(now)
        guard let lane = ready.popFirst(), let step = lanes[lane]?.first?.steps.last else { return nil }
        underWay += 1
        return DeliveryRequest(lane: lane, batch: step.batch, loss: step.loss)
    }

    private mutating func resume(_ now: Duration) {
        guard pausing.contains(where: { $0.until <= now }) else { return }
        for pause in pausing where pause.until <= now { ready.append(pause.lane) }
        pausing.removeAll { $0.until <= now }
    }

    /// Takes what came of a request.
    package mutating func take(
        _ reply: DeliveryReply,
        to request: DeliveryRequest,
        now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        underWay -= 1
        account.add(reply)
        guard var parcel = lanes[request.lane]?.popFirst(), let step = parcel.steps.popLast() else { return }
        switch reply.kind {
        case .lost: break
        case .answer(_, .taken(let receipt)):
            trouble = nil
            account.add(receipt, isRepeat: step.isRepeat)
            parcel.backoff = SendBackoff(limit: limits.retryFor)
            if !step.isRepeat, parcel.steps.allSatisfy(\.isRepeat) { account.acknowledge(after: now - parcel.due) }
        case .answer(_, .tooLarge(let words)):
            if let (first, second) = step.batch.halves {
                parcel.steps += [
                    Step(batch: second, isRepeat: step.isRepeat), Step(batch: first, isRepeat: step.isRepeat),
                ]
            } else {
                end(.refused(words))
            }
        case .answer(_, .refused(let words)): end(.refused(words))
        case .answer(_, .again(let words, let after)):
            return retry(step, of: parcel, in: request.lane, words, after: after, now, &random)
        case .noAnswer(let problem):
            if problem.isFinal { return end(.unreachable(problem.reason)) }
            return retry(step, of: parcel, in: request.lane, problem.reason, after: nil, now, &random)
        }
        goOn(parcel, in: request.lane)
    }

    private mutating func goOn(_ parcel: Parcel, in lane: Int) {
        if parcel.steps.isEmpty { unfinished -= 1 } else { lanes[lane]?.prepend(parcel) }
        if lanes[lane]?.isEmpty == false { ready.append(lane) } else { lanes[lane] = nil }
    }

    private mutating func retry(
        _ step: Step,
        of parcel: Parcel,
        in lane: Int,
        _ reason: String,
        after: Duration?,
        _ now: Duration,
        _ random: inout some RandomNumberGenerator
    ) {
        var parcel = parcel
        parcel.steps.append(step)
        trouble = reason
        guard let pause = parcel.backoff.pause(now: now, retryAfter: after, using: &random) else {
            return end(.unreachable(reason))
        }
        account.retries += 1
        lanes[lane]?.prepend(parcel)
        pausing.append((now + pause, lane))
    }

    /// Sends nothing more; what is under way may be answered.
    package mutating func interrupt() { end(.interrupted) }

    private mutating func end(_ ending: SendResult.Ending) { self.ending = self.ending ?? ending }
}
