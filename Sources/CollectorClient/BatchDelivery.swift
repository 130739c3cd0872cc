// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LogInput

/// Sends batches, retrying each until it is accepted, refused or given up.
struct BatchDelivery: Sendable {
    /// How long a batch is still retried after Ctrl-C.
    static let afterInterruption = Duration.seconds(5)
    private static let pollInterval = Duration.milliseconds(100)

    let client: CollectorConnection
    let source: SendSource
    let compresses: Bool
    let retryFor: Duration
    let interruption: Interruption?
    let elapsed: @Sendable () -> Duration
    /// Receives a sentence when retrying begins and when it succeeded.
    let notice: @Sendable (String) -> Void
    private(set) var retries = 0

    init(
        _ client: CollectorConnection,
        source: SendSource,
        compresses: Bool,
        retryFor: Duration,
        interruption: Interruption?,
        elapsed: @escaping @Sendable () -> Duration,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.source = source
        self.compresses = compresses
        self.retryFor = retryFor
        self.interruption = interruption
        self.elapsed = elapsed
        self.notice = notice
    }

    /// Why a batch was not accepted.
    enum Failure: Error, Equatable {
        case unreachable(String)
        case refused(String)
    }

    /// Sends a batch, halved for as long as the collector finds it too large.
    ///
    /// - Parameter taken: receives each accepted piece with its receipt.
    mutating func deliver(
        _ batch: SendBatch,
        taken: (SendBatch, BatchOutcome.Receipt) -> Void
    ) async throws(Failure) {
        var waiting = [batch]
        while let next = waiting.popLast() {
            switch try await outcome(of: next) {
            case .success(let receipt): taken(next, receipt)
            case .failure(.tooLarge(let reason)):
                guard let (first, second) = next.halves else { throw .refused(reason) }
                waiting += [second, first]
            }
        }
    }

    private enum Divisible: Error {
        case tooLarge(String)
    }

    private mutating func outcome(
        of batch: SendBatch
    ) async throws(Failure) -> Result<BatchOutcome.Receipt, Divisible> {
        let request = SendRequest(batch, compresses: compresses, source: source)
        var backoff = SendBackoff(limit: retryFor)
        var random = SystemRandomNumberGenerator()
        let start = elapsed()
        while true {
            let (reason, after): (String, Duration?)
            switch try await attempt(request) {
            case .taken(let receipt):
                if backoff.failures > 0 { notice("sent after \((elapsed() - start).words)") }
                return .success(receipt)
            case .tooLarge(let words): return .failure(.tooLarge(words))
            case .refused(let words): throw .refused(words)
            case .again(let words, let pause): (reason, after) = (words, pause)
            }
            if interruption?.isRaised == true { backoff.shorten(to: Self.afterInterruption, now: elapsed()) }
            guard let pause = backoff.pause(now: elapsed(), retryAfter: after, using: &random) else {
                throw .unreachable(reason)
            }
            if backoff.failures == 1 { notice("not sent yet: \(reason); trying again for \(retryFor.words)") }
            retries += 1
            await sleep(pause, &backoff)
        }
    }

    private func attempt(_ request: SendRequest) async throws(Failure) -> BatchOutcome {
        do throws(Unreachable) {
            return BatchOutcome(try await client.post(request.body, request.headers))
        } catch {
            if error.isFinal { throw .unreachable(error.reason) }
            return .again(error.reason, after: nil)
        }
    }

    /// Sleeps, and wakes early on Ctrl-C.
    private func sleep(_ pause: Duration, _ backoff: inout SendBackoff) async {
        let wasRaised = interruption?.isRaised == true
        var end = elapsed() + pause
        while elapsed() < end {
            try? await Task.sleep(for: min(Self.pollInterval, end - elapsed()))
            if !wasRaised, interruption?.isRaised == true {
                backoff.shorten(to: Self.afterInterruption, now: elapsed())
                end = min(end, elapsed())
            }
        }
    }
}

/// The backoff between attempts: exponential with full jitter (Brooker, "Exponential Backoff And Jitter",
/// AWS Architecture Blog, 2015), no shorter than the collector asks for, and at an end some time after the first failure.
struct SendBackoff: Sendable {
    static let first = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)

    /// How long after its first failure a batch is given up.
    let limit: Duration
    private(set) var failures = 0
    private var giveUpAt: Duration?

    init(limit: Duration) {
        self.limit = limit
    }

    /// How long to wait; nil when it is time to give up. The last attempt comes at the end of the time.
    ///
    /// - Parameters:
    ///   - now: since some start.
    ///   - retryAfter: what the collector asks for.
    mutating func pause(
        now: Duration,
        retryAfter: Duration?,
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        let end = giveUpAt ?? now + limit
        giveUpAt = end
        guard now < end else { return nil }
        let ceiling = min(Self.first * (1 << min(failures, 16)), Self.longest)
        failures += 1
        let jittered = ceiling * Double.random(in: 0..<1, using: &random)
        return min(max(jittered, retryAfter ?? .zero), end - now)
    }

    /// Leaves no more than so much time from now on.
    mutating func shorten(to rest: Duration, now: Duration) {
        giveUpAt = min(giveUpAt ?? now + limit, now + rest)
    }
}
