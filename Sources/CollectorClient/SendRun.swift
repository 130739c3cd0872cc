// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import LogInput
internal import NIOPosix
internal import TelemetryEvents

/// Sends one input to a collector: a thread reads and splits it while the caller's task sends the batches in order.
///
/// Memory is bounded: at most a few batches are read ahead of the acknowledgements.
package struct SendRun: Sendable {
    /// How many batches may wait.
    private static let depth = 2

    private let options: SendOptions
    private let interruption: Interruption?
    private let client: CollectorConnection

    /// - Parameters:
    ///   - options: where and how to send.
    ///   - interruption: what ends the input early.
    /// - Throws: `InvalidOption` for a file of secrets or certificates that is none.
    package init(_ options: SendOptions, interruption: Interruption? = nil) throws(InvalidOption) {
        self.options = options
        self.interruption = interruption
        client = try CollectorConnection(
            options.to,
            options.access,
            timeout: options.timeout,
            credentials: options.credentials,
            headers: options.headers
        )
    }

    /// Whether a secret goes over the network in clear.
    package var tellsSecretInClear: Bool { client.tellsSecretInClear }

    /// Sends the input to its end.
    ///
    /// - Parameters:
    ///   - path: a file; `-` is standard input.
    ///   - notice: receives sentences about retries.
    ///   - progress: called now and then on a thread of the run.
    package func send(
        _ path: String,
        notice: @escaping @Sendable (String) -> Void = { _ in },
        progress: @escaping @Sendable (InputProgress) -> Void = { _ in }
    ) async -> SendResult {
        let start = ContinuousClock.now
        let elapsed: @Sendable () -> Duration = { ContinuousClock.now - start }
        let pieces = BoundedQueue<InputReading.Piece>(depth: Self.depth)
        let source = options.installation.map { SendSource($0) } ?? SendSource(path: path)
        InputReading(
            options: options.reading,
            source: source,
            interruption: interruption,
            elapsed: elapsed,
            progress: progress
        ).start(path) { pieces.put($0) }
        var delivery = BatchDelivery(
            client,
            source: source,
            compresses: options.compresses,
            retryFor: options.retryFor,
            interruption: interruption,
            elapsed: elapsed,
            notice: notice
        )
        var result = SendResult()
        do throws(BatchDelivery.Failure) {
            reading: while let piece = try? await NIOThreadPool.singleton.runIfActive({ pieces.take() }) {
                switch piece {
                case .batch(let batch): try await delivery.deliver(batch) { result.add($1, of: $0) }
                case .failure(let error):
                    result.ending = .unreadable("\(error)")
                    break reading
                case .end(let account, let decodedLines):
                    result.add(account, decodedLines)
                    break reading
                }
            }
            if result.ending == .complete, interruption?.isRaised == true { result.ending = .interrupted }
        } catch {
            let wasInterrupted = interruption?.isRaised == true
            switch error {
            case .unreachable(let reason) where wasInterrupted:
                notice("what was read last was not sent: \(reason)")
                result.ending = .interrupted
            case .unreachable(let reason): result.ending = .unreachable("\(options.to): \(reason)")
            case .refused(let reason): result.ending = .refused("\(options.to): \(reason)")
            }
        }
        result.retries = delivery.retries
        await client.close()
        return result
    }
}

/// Reads an input on a thread of its own and hands over its batches with backpressure.
private struct InputReading: Sendable {
    enum Piece: Sendable {
        case batch(SendBatch)
        case failure(InputError)
        /// The totals, and the lines that the client decoded.
        case end(SendAccount, LogLineCounts)
    }

    private static let pieceBytes = 256 << 10
    private static let waitMilliseconds: Int32 = 100

    let options: LineFormat
    let source: SendSource
    let interruption: Interruption?
    let elapsed: @Sendable () -> Duration
    let progress: @Sendable (InputProgress) -> Void

    /// Reads in the background.
    func start(_ path: String, _ put: @escaping @Sendable (Piece) -> Void) {
        let thread = Thread {
            do throws(InputError) {
                try read(path, put)
            } catch {
                put(.failure(error))
            }
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    private func read(_ path: String, _ put: (Piece) -> Void) throws(InputError) {
        let file = try InputFile(path, interruption: interruption)
        let (isStream, size, name) = (file.isStream, file.size, file.name)
        var input = try InputBytes(file)
        // A compressed stream is not a live one.
        let isLive = isStream && !input.isCompressed
        var cutter = SendCutter(options, source: source, isLive: isLive)
        var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
        do throws(InputError) {
            while interruption?.isRaised != true {
                if isLive, !input.wait(milliseconds: Self.waitMilliseconds) {
                    for batch in try cutter.tick(at: now) { put(.batch(batch)) }
                    continue
                }
                let count = try input.read(into: &buffer, from: 0)
                if count == 0 { break }
                for batch in try cutter.take(Array(buffer[..<count]), at: now) { put(.batch(batch)) }
                for batch in try cutter.tick(at: now) { put(.batch(batch)) }
                progress(InputProgress(bytes: input.consumed, totalBytes: size, lines: cutter.account.lines))
            }
            let isCut = interruption?.isRaised == true
            for batch in try cutter.finish(at: now, isCut: isCut) { put(.batch(batch)) }
        } catch {
            throw error.input == name ? error : InputError(input: name, problem: "\(error.input): \(error.problem)")
        }
        put(.end(cutter.account, cutter.decodedLines))
    }

    private var now: SendCutter.Moment {
        SendCutter.Moment(
            elapsed: elapsed(),
            wall: Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        )
    }
}
