// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
package import LogInput
package import TelemetryEvents

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Prints the ledger as lines of JSON in constant memory, also beside a running service.
package struct LedgerDump: Sendable {
    /// What each line describes.
    package enum Content: Hashable, Sendable {
        /// An event or a verdict, optionally of one kind.
        case events(Kind?)
        /// A row: a batch with its receipt, or a tick.
        case rows
    }

    /// A kind of numbered record, by its name in JSON and in the journal.
    package enum Kind: Hashable, Sendable {
        case event(EventKind)
        /// The verdict on a cycle.
        case cycle
        /// The verdict on a run.
        case run

        private static let all = EventKind.allCases.map(Kind.event) + [.cycle, .run]
        /// All names.
        package static let names = all.map(\.name)

        /// - Parameter name: one of the names; nil for any other.
        package init?(name: String) {
            guard let kind = Self.all.first(where: { $0.name == name }) else { return nil }
            self = kind
        }

        private var name: String {
            switch self {
            case .event(let kind): "\(kind.name)"
            case .cycle: "\(CycleVerdict.event)"
            case .run: "\(RunVerdict.event)"
            }
        }
    }

    /// How a dump ended.
    package struct Outcome: Hashable, Sendable {
        /// Whether everything requested could be read.
        package var isWhole = true
        /// Whether Ctrl-C ended it.
        package var isInterrupted = false
        /// The `errno` that ended the output, 0 for none; a closed pipe (EPIPE) counts as none.
        package var outputProblem: Int32 = 0
    }

    private let reader: LedgerReader
    private let content: Content
    private let after: UInt64
    private let limit: UInt64

    /// Opens the ledger of a state directory.
    ///
    /// - Parameters:
    ///   - after: skips the events up to this number.
    ///   - limit: the maximum number of lines.
    package init(
        stateDirectory: String,
        _ content: Content,
        after: UInt64 = 0,
        limit: UInt64 = .max
    ) throws(UnreadableLedger) {
        self.content = content
        self.after = after
        self.limit = limit
        reader = try LedgerReader.reading(stateDirectory)
    }

    /// Prints to a file descriptor.
    ///
    /// - Parameters:
    ///   - interruption: ends the output behind a whole line.
    ///   - warn: called with what cannot be read.
    ///   - note: called with information for the user.
    package func print(
        to descriptor: Int32,
        interruption: Interruption? = nil,
        warn: (String) -> Void = { _ in },
        note: (String) -> Void = { _ in },
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> Outcome {
        var printing = Printing(
            content: content,
            after: after,
            limit: limit,
            output: LineOutput(descriptor, interruption: interruption)
        )
        var reached = LedgerProgress()
        do throws(LedgerError) {
            let pruned = try reader.statistics().pruned
            noteBeginning(pruned, note)
            // Rows without events have the number of the event before them.
            var walk =
                try after <= pruned.sequence
                ? LedgerWalk(reader, after: pruned) : LedgerWalk(reader, afterSequence: after)
            while printing.isActive, let step = try walk.next() {
                switch step {
                case .batch(let stored):
                    if let damage = printing.add(stored) { warn(damage) }
                    reached.events += UInt64(stored.batch.count)
                    progress(reached)
                case .damaged(let batch, let detail):
                    printing.isWhole = false
                    warn("batch \(batch) is damaged and left out: \(detail)")
                case .gap(let last, let batch, _):
                    printing.isWhole = false
                    warn("batch \(batch) does not follow \(last): something between them is missing")
                case .deleted(let position):
                    note(
                        "up to \(position), batches were deleted before they were read; the service needs them no more"
                    )
                }
            }
        } catch {
            printing.output.flush()
            throw UnreadableLedger(error)
        }
        printing.output.flush()
        return printing.outcome
    }

    private func noteBeginning(_ pruned: LedgerPosition, _ note: (String) -> Void) {
        guard after < pruned.sequence else { return }
        note(
            "the ledger begins with event \(pruned.sequence + 1); what is before that was deleted once it was "
                + "counted and no longer needed"
        )
    }
}

/// The state of a running dump.
private struct Printing {
    let content: LedgerDump.Content
    let after: UInt64
    var limit: UInt64
    var output: LineOutput
    var isWhole = true

    var isActive: Bool { limit > 0 && output.end == nil }

    var outcome: LedgerDump.Outcome {
        var outcome = LedgerDump.Outcome(isWhole: isWhole)
        switch output.end {
        case nil, .closed: break
        case .interrupted: outcome.isInterrupted = true
        case .failed(let errno): outcome.outputProblem = errno
        }
        return outcome
    }

    /// Prints the requested lines of a batch; returns what cannot be read of it.
    mutating func add(_ stored: StoredBatch) -> String? {
        guard case .events(let kind) = content else {
            let receipt = IngestReceipt(encoded: stored.batch.receipt)
            RowLine.append(stored, receipt, to: &output.buffer)
            limit -= 1
            _ = output.flushIfFull()
            if receipt != nil { return nil }
            isWhole = false
            return "batch \(stored.id): its receipt cannot be read"
        }
        let envelope = EventEnvelope(stored)
        let records = stored.batch.events
        var cursor = LedgerRecordCursor(origin: stored.batch.origin)
        var sequence = stored.firstSequence
        do throws(LedgerRecordError) {
            while let record = try cursor.next(in: records.span) {
                if sequence > after, kind?.matches(record) ?? true {
                    envelope.append(record, in: records.span, sequence: sequence, to: &output.buffer)
                    limit -= 1
                    guard output.flushIfFull(), limit > 0 else { return nil }
                }
                sequence += 1
            }
            return nil
        } catch {
            isWhole = false
            return "batch \(stored.id): what it holds from number \(sequence) on is left out: \(error)"
        }
    }
}

extension LedgerDump.Kind {
    fileprivate func matches(_ record: LedgerRecord) -> Bool {
        switch (self, record) {
        case (.event(let kind), .event(let event)): event.kind == kind
        case (.cycle, .cycle), (.run, .run): true
        default: false
        }
    }
}

extension LedgerReader {
    /// Opens the ledger of a state directory read-only.
    static func reading(_ stateDirectory: String) throws(UnreadableLedger) -> LedgerReader {
        do throws(LedgerError) {
            return try LedgerReader.open(directory: stateDirectory)
        } catch {
            throw UnreadableLedger(error, in: stateDirectory)
        }
    }
}

/// Buffered output to a file descriptor, such as a pipe whose reader may be slow or close it.
private struct LineOutput {
    /// Why the output ended.
    enum End: Hashable {
        /// The reader closed the pipe.
        case closed
        case interrupted
        case failed(errno: Int32)
    }

    /// The buffer's size in bytes.
    private static let bufferBytes = 256 << 10
    /// The timeout of one poll of a full pipe, in milliseconds.
    private static let interval: Int32 = 100

    private let descriptor: Int32
    private let interruption: Interruption?
    private(set) var end: End?
    /// The lines not written yet.
    var buffer: [UInt8] = []

    init(_ descriptor: Int32, interruption: Interruption?) {
        self.descriptor = descriptor
        self.interruption = interruption
        buffer.reserveCapacity(Self.bufferBytes + 4_096)
    }

    /// Flushes a full buffer; false when no more can be written.
    mutating func flushIfFull() -> Bool {
        if interruption?.isRaised == true {
            flush()
            end = end ?? .interrupted
        }
        guard end == nil else { return false }
        if buffer.count >= Self.bufferBytes { flush() }
        return end == nil
    }

    /// Writes the buffer in pieces of PIPE_BUF, which never block after a successful poll, so that an interruption is
    /// noticed while the reader is slow.
    mutating func flush() {
        guard end == nil else { return }
        end = unsafe buffer.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let ready = unsafe poll(&output, 1, Self.interval)
                if ready == 0 || (ready < 0 && errno == EINTR) {
                    if interruption?.isRaised == true { return .interrupted }
                    continue
                }
                let piece = min(bytes.count - offset, Int(PIPE_BUF))
                let count = unsafe write(descriptor, bytes.baseAddress?.advanced(by: offset), piece)
                if count < 0 {
                    if errno == EINTR || errno == EAGAIN { continue }
                    return errno == EPIPE ? .closed : .failed(errno: errno)
                }
                offset += count
            }
            return nil
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
