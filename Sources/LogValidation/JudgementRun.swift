// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import LogInput
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Judges inputs in constant memory: one thread reads and parses, the caller's binds and folds.
///
/// Each input is a log of its own; the cycles of all of them are judged together.
package struct JudgementRun: Sendable {
    /// How many cycles are open at most; past it those that came first are judged early.
    private static let openCycles = 65_536
    /// How many decoded pieces wait for the fold at most.
    private static let depth = 4

    private let options: JudgementOptions
    private let interruption: Interruption?

    /// - Parameters:
    ///   - options: how the inputs are read and what is kept.
    ///   - interruption: what ends standard input early.
    package init(_ options: JudgementOptions, interruption: Interruption? = nil) {
        self.options = options
        self.interruption = interruption
    }

    private enum Piece: Sendable {
        case input(InputPiece, Int)
        case failure(InputError)
        case end
    }

    /// Reads and judges the inputs, in their order.
    ///
    /// - Parameters:
    ///   - paths: files; `-` is standard input.
    ///   - progress: is told now and then how far it has come, on a thread of the run.
    /// - Throws: `InputError` for the first input that cannot be read.
    package func judge(
        _ paths: [String],
        progress: @escaping @Sendable (InputProgress) -> Void = { _ in }
    ) throws(InputError) -> Judgement {
        let pseudonyms = OneRunPseudonyms()
        let decoding = InputDecoding(options: options, pseudonyms: pseudonyms, now: { Self.now })
        let pieces = Handover<Piece>(depth: Self.depth)
        let interruption = interruption
        let reader = Thread {
            Self.read(paths, decoding, interruption, progress) { pieces.put($0) }
            pieces.put(.end)
        }
        reader.stackSize = 4 << 20
        reader.start()

        var folding = JudgementFolding(options, pseudonyms, openCycles: Self.openCycles)
        var failure: InputError?
        reading: while true {
            switch pieces.take() {
            case .input(let piece, let input): folding.add(piece, input: input, readAt: Self.now)
            case .failure(let error): failure = error
            case .end: break reading
            }
        }
        if let failure { throw failure }
        return folding.finish()
    }

    private static func read(
        _ paths: [String],
        _ decoding: InputDecoding,
        _ interruption: Interruption?,
        _ progress: (InputProgress) -> Void,
        _ put: (Piece) -> Void
    ) {
        do throws(InputError) {
            var sofar = InputProgress(totalBytes: try totalSize(of: paths))
            for (index, path) in paths.enumerated() {
                let file = try InputFile(path, interruption: interruption)
                let (name, size) = (file.name, file.size)
                let input = try InputBytes(file)
                let before = sofar
                let judged = try decoding.decode(input, named: name) {
                    put(.input($0, index))
                } progress: { bytes, lines in
                    sofar.bytes = before.bytes + bytes
                    sofar.lines = before.lines + lines
                    progress(sofar)
                }
                sofar.bytes = before.bytes + (size ?? 0)
                sofar.lines = before.lines + judged.lines.read
                progress(sofar)
                put(.input(.end(judged), index))
            }
        } catch {
            put(.failure(error))
        }
    }

    /// The size of all inputs together; also the check that all of them are there before the first is read.
    ///
    /// Only regular files are opened: a pipe gives its content once, and waits for who writes it.
    private static func totalSize(of paths: [String]) throws(InputError) -> Int? {
        var total: Int? = 0
        for path in paths {
            guard InputFile.isReadTheSameTwice(path) else {
                total = nil
                continue
            }
            let file = try InputFile(path)
            total = total.flatMap { sum in file.size.map { sum + $0 } }
        }
        return total
    }

    private static var now: Timestamp {
        Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}
