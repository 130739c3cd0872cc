// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Gzip
internal import LogInput

/// Sends batches until each is taken or refused.
struct BatchDelivery: Sendable {
    /// How long a batch is still tried after Ctrl-C.
    static let afterInterruption = Duration.seconds(5)
    private static let pollInterval = Duration.milliseconds(100)

    let client: CollectorConnection
    let compresses: Bool
    let retryFor: Duration
    let interruption: Interruption?
    let elapsed: @Sendable () -> Duration
    /// Is told what goes wrong and that it is over.
    let notice: @Sendable (String) -> Void
    private(set) var retries = 0

    init(
        _ client: CollectorConnection,
        compresses: Bool,
        retryFor: Duration,
        interruption: Interruption?,
        elapsed: @escaping @Sendable () -> Duration,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.compresses = compresses
        self.retryFor = retryFor
        self.interruption = interruption
        self.elapsed = elapsed
        self.notice = notice
    }

    /// Why a batch was not taken.
    enum Failure: Error, Equatable {
        case unreachable(String)
        case refused(String)
    }

    /// Sends a batch, in pieces where a collector takes only smaller ones.
    ///
    /// - Parameter taken: is given the receipt of each piece.
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
        let (body, headers) = request(of: batch)
        var backoff = SendBackoff(limit: retryFor)
        var random = SystemRandomNumberGenerator()
        let start = elapsed()
        while true {
            let (reason, after): (String, Duration?)
            switch try await attempt(body, headers) {
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

    private func attempt(_ body: [UInt8], _ headers: [(String, String)]) async throws(Failure) -> BatchOutcome {
        do throws(Unreachable) {
            return BatchOutcome(try await client.post(body, headers))
        } catch {
            if error.isFinal { throw .unreachable(error.reason) }
            return .again(error.reason, after: nil)
        }
    }

    /// Sleeps; after Ctrl-C no longer than is left then.
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

    private func request(of batch: SendBatch) -> ([UInt8], [(String, String)]) {
        var headers = [("Content-Type", batch.format.contentType), ("Idempotency-Key", batch.key)]
        guard compresses, let compressed = GzipBody.compress(batch.body) else { return (batch.body, headers) }
        headers.append(("Content-Encoding", "gzip"))
        return (compressed, headers)
    }
}
