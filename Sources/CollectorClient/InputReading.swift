// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LogInput
internal import TelemetryEvents

/// Reads an input on a thread of its own and hands over its batches, no faster than they are taken.
struct InputReading: Sendable {
    enum Piece: Sendable {
        case batch(SendBatch)
        case failure(InputError)
        /// What was read, and the lines that were decoded here.
        case end(SendAccount, LogLineCounts)
    }

    private static let pieceBytes = 256 << 10
    private static let waitMilliseconds: Int32 = 100

    let options: LineFormat
    let interruption: Interruption?
    let elapsed: @Sendable () -> Duration
    let progress: @Sendable (InputProgress) -> Void

    /// Reads in the background, and puts what it finds.
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
        // What is compressed was written before.
        let isLive = isStream && !input.isCompressed
        var cutter = SendCutter(options, isLive: isLive)
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
            for batch in try cutter.finish(at: now) { put(.batch(batch)) }
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
