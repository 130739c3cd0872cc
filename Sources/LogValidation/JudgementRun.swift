// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import LogInput
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Judges inputs in constant memory: one thread reads and parses, the next binds lines to cycles, another one folds, the
/// calling one lists.
///
/// Each input is a device of its own, unless they are rotations of one log or the options join them; the cycles of all
/// of them are judged together.
package struct JudgementRun: Sendable {
    /// The maximum number of open cycles; beyond it the oldest are closed and judged early.
    private static let openCycles = 65_536
    /// The maximum number of pieces that wait for each of the threads.
    private static let depth = 4

    private let options: JudgementOptions
    private let interruption: Interruption?

    /// - Parameters:
    ///   - options: how the inputs are read and what is kept.
    ///   - interruption: ends standard input early.
    package init(_ options: JudgementOptions, interruption: Interruption? = nil) {
        self.options = options
        self.interruption = interruption
    }

    /// What one thread hands to the next.
    private enum Passed<Piece: Sendable>: Sendable {
        case piece(Piece, input: Int)
        case failure(InputError)
        case end
    }

    /// Reads and judges the inputs, in their order.
    ///
    /// - Parameters:
    ///   - paths: files; `-` is standard input.
    ///   - progress: called after every piece, on the reading thread.
    /// - Throws: `InputError` for the first input that cannot be read.
    package func judge(
        _ paths: [String],
        progress: @escaping @Sendable (InputProgress) -> Void = { _ in }
    ) throws(InputError) -> Judgement {
        let interruption = interruption
        return try judge(InputDevices(paths, joins: options.joins)) { decoding, devices, put in
            Self.read(paths, devices, decoding, interruption, progress, put)
        }
    }

    /// Judges one input that is in memory, as if it came by standard input.
    ///
    /// - Throws: `InputError` where it cannot be read within the limits.
    package func judge(_ bytes: [UInt8], _ limits: InputLimits) throws(InputError) -> Judgement {
        try judge(InputDevices([InputFile.standardInput], joins: false)) { decoding, _, put in
            Self.read(bytes, limits, decoding, put)
        }
    }

    /// Lists what one thread reads, another one binds, and a third one folds.
    private func judge(
        _ devices: InputDevices,
        read: @escaping @Sendable (InputDecoding, InputDevices, (Passed<InputPiece>) -> Void) -> Void
    ) throws(InputError) -> Judgement {
        let pseudonyms = EphemeralPseudonyms()
        let decoding = InputDecoding(options: options, pseudonyms: pseudonyms, now: { Self.now })
        let binding = InputBinding(options.lines, pseudonyms, isLive: options.observer != nil)
        let parsed = BoundedQueue<Passed<InputPiece>>(depth: Self.depth)
        let bound = BoundedQueue<Passed<BoundPiece>>(depth: Self.depth)
        Self.start {
            read(decoding, devices) { parsed.put($0) }
            parsed.put(.end)
        }
        Self.start { Self.bind(binding, from: parsed, to: bound) }
        let folding = InputFolding(options, pseudonyms.identityKey, openCycles: Self.openCycles)
        let folded = BoundedQueue<Passed<FoldedPiece>>(depth: Self.depth)
        Self.start { Self.fold(folding, from: bound, to: folded) }

        var listing = JudgementListing(options, pseudonyms, openCycles: Self.openCycles, observer: options.observer)
        listing.namesFiles = devices.areSeveral
        var failure: InputError?
        reading: while true {
            switch folded.take() {
            case .piece(let piece, let input): listing.add(piece, input: input, readAt: Self.now)
            case .failure(let error): failure = error
            case .end: break reading
            }
        }
        if let failure { throw failure }
        return listing.finish()
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 4 << 20
        thread.start()
    }

    private static func bind(
        _ binding: InputBinding,
        from parsed: BoundedQueue<Passed<InputPiece>>,
        to bound: BoundedQueue<Passed<BoundPiece>>
    ) {
        var binding = binding
        while true {
            switch parsed.take() {
            case .piece(let piece, let input):
                binding.bind(piece, input: input, readAt: now) { bound.put(.piece($0, input: $1)) }
            case .failure(let error): bound.put(.failure(error))
            case .end:
                binding.finish(readAt: now) { bound.put(.piece($0, input: $1)) }
                return bound.put(.end)
            }
        }
    }

    private static func fold(
        _ folding: InputFolding,
        from bound: BoundedQueue<Passed<BoundPiece>>,
        to folded: BoundedQueue<Passed<FoldedPiece>>
    ) {
        while true {
            switch bound.take() {
            case .piece(let piece, let input): folded.put(.piece(folding.fold(piece, readAt: now), input: input))
            case .failure(let error): folded.put(.failure(error))
            case .end:
                folded.put(.piece(folding.finish(), input: 0))
                return folded.put(.end)
            }
        }
    }

    private static func read(
        _ bytes: [UInt8],
        _ limits: InputLimits,
        _ decoding: InputDecoding,
        _ put: (Passed<InputPiece>) -> Void
    ) {
        do throws(InputError) {
            put(.piece(.device(nil), input: 0))
            let file = InputFile(bytes)
            let name = file.name
            let input = try InputBytes(file, limits: limits)
            var host: UInt64 = 0
            let judged = try decoding.decode(input, named: name, source: nil, host: &host) {
                put(.piece($0, input: 0))
            } progress: { _, _ in
            }
            put(.piece(.end(judged), input: 0))
        } catch {
            put(.failure(error))
        }
    }

    private static func read(
        _ paths: [String],
        _ devices: InputDevices,
        _ decoding: InputDecoding,
        _ interruption: Interruption?,
        _ progress: (InputProgress) -> Void,
        _ put: (Passed<InputPiece>) -> Void
    ) {
        do throws(InputError) {
            var sofar = InputProgress(totalBytes: try totalSize(of: paths))
            for (device, inputs) in devices.inputs.enumerated() {
                let source = devices.areSeveral ? decoding.pseudonyms.device(device) : nil
                put(.piece(.device(source), input: inputs.first ?? 0))
                var host: UInt64 = 0
                for index in inputs {
                    let file = try InputFile(paths[index], interruption: interruption)
                    let (name, size) = (file.name, file.size)
                    let input = try InputBytes(file)
                    let before = sofar
                    let judged = try decoding.decode(input, named: name, source: source, host: &host) {
                        put(.piece($0, input: index))
                    } progress: { bytes, lines in
                        sofar.bytes = before.bytes + bytes
                        sofar.lines = before.lines + lines
                        progress(sofar)
                    }
                    sofar.bytes = before.bytes + (size ?? 0)
                    sofar.lines = before.lines + judged.lines.read
                    progress(sofar)
                    put(.piece(.end(judged), input: index))
                }
            }
        } catch {
            put(.failure(error))
        }
    }

    /// The total size of the inputs; fails early when one of them is missing.
    ///
    /// Opens only regular files: a pipe gives its content once, and opening it blocks until it has a writer.
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

/// Pseudonyms under random keys that live as long as one run.
struct EphemeralPseudonyms: Pseudonymising {
    /// The key of identities and cycles in the run.
    let identityKey: IdentityKey
    private let high: IdentityKey
    private let low: IdentityKey

    init() {
        var random = SystemRandomNumberGenerator()
        identityKey = IdentityKey(random.next(), random.next())
        high = IdentityKey(random.next(), random.next())
        low = IdentityKey(random.next(), random.next())
    }

    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        Pseudonym(high: high.batch(idempotencyKey: bytes), low: low.batch(idempotencyKey: bytes))
    }

    /// The pseudonym of the device of an input.
    func device(_ number: Int) -> Pseudonym {
        Pseudonym(deviceOf: Pseudonym(high: high.hash(0, UInt64(number)), low: low.hash(0, UInt64(number))))
    }
}
