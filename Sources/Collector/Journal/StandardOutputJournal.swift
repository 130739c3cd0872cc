// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Writes events and verdicts to standard output as lines of canonical JSON, for systems without journald.
///
/// A stalled reader blocks only the writing thread. A line counts as delivered once the kernel has taken it.
final class StandardOutputJournal: Sendable {
    private let reader: LedgerReader
    private let progress: JournalProgress
    private let wakeUps: AsyncStream<Void>
    private let waking: AsyncStream<Void>.Continuation
    private let isStopping = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ reader: LedgerReader, _ progress: JournalProgress) {
        self.reader = reader
        self.progress = progress
        (wakeUps, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        waking.yield()
        let running = Task.detached { [self] in await run() }
        task.withLock { $0 = running }
    }

    func wake() { waking.yield() }

    /// Stops after the current piece.
    func stop() async {
        isStopping.store(true, ordering: .relaxed)
        waking.finish()
        await task.withLock { $0 }?.value
    }

    private func run() async {
        for await _ in wakeUps {
            let written = try? await NIOThreadPool.singleton.runIfActive { [self] in writeAll() }
            if written != true { return }
        }
    }

    /// Writes what follows the last written event in the ledger; false when standard output is closed or the service stops.
    private func writeAll() -> Bool {
        while !isStopping.load(ordering: .relaxed) {
            let sequence = progress.latest
            guard let batches = try? read(after: sequence), !batches.isEmpty else { return true }
            for stored in batches where stored.position.sequence > sequence {
                progress.willWrite(batchEndingAt: stored.position)
                guard write(stored, after: sequence) else { return false }
                progress.confirmed(stored.position.sequence)
            }
            if batches.allSatisfy({ $0.position.sequence <= sequence }) { return true }
        }
        return true
    }

    /// Reads the next batches; a damaged one is skipped, as recovery does.
    private func read(after sequence: UInt64) throws(LedgerError) -> [StoredBatch] {
        do throws(LedgerError) {
            return try reader.read(afterSequence: sequence)
        } catch {
            guard case .damagedBatch(let id, _) = error else { throw error }
            return try reader.read(afterBatch: id)
        }
    }

    private func write(_ stored: StoredBatch, after sequence: UInt64) -> Bool {
        var lines: [UInt8] = []
        var cursor = LedgerRecordCursor(origin: stored.batch.origin)
        var current = stored.firstSequence
        let records = stored.batch.events
        while let record = try? cursor.next(in: records.span) {
            if current > sequence {
                switch record {
                case .event(let event): CanonicalJSON.append(event, in: records.span, to: &lines)
                case .verdict(let verdict): lines += verdict.json
                }
                lines.append(UInt8(ascii: "\n"))
            }
            current += 1
        }
        return writeAll(lines)
    }

    /// Writes in pieces of PIPE_BUF, which a ready pipe takes whole, so that no write blocks and a stop is noticed in time.
    private func writeAll(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                let ready = unsafe poll(&output, 1, 100)
                if isStopping.load(ordering: .relaxed) { return false }
                if ready == 0 || (ready < 0 && errno == EINTR) { continue }
                let piece = min(bytes.count - offset, Int(PIPE_BUF))
                let count = unsafe Glibc.write(STDOUT_FILENO, bytes.baseAddress?.advanced(by: offset), piece)
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }
}
