// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Logging
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
    /// The size of the lines that are written before their delivery is reported; a single one may exceed it.
    private static let maximumBytes = 1 << 16
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(2)

    /// How an attempt to write all there is ended.
    private enum Ending {
        case drained
        /// The ledger could not be read.
        case failed
        /// The output is closed, or the service stops.
        case closed
    }

    private let records: Mutex<UndeliveredRecords>
    private let progress: DeliveryProgress
    private let descriptor: Int32
    private let wakeUps: AsyncStream<Void>
    private let waking: AsyncStream<Void>.Continuation
    private let isStopping = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter descriptor: Takes the lines.
    init(_ reader: LedgerReader, _ progress: DeliveryProgress, log: Logger, descriptor: Int32 = STDOUT_FILENO) {
        records = Mutex(UndeliveredRecords(reader, progress: progress, log: log))
        self.progress = progress
        self.descriptor = descriptor
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
        let running = task.withLock { $0 }
        running?.cancel()
        await running?.value
    }

    private func run() async {
        var pause = Self.firstPause
        for await _ in wakeUps {
            guard let ending = try? await NIOThreadPool.singleton.runIfActive({ [self] in writeAll() }) else { return }
            switch ending {
            case .drained: pause = Self.firstPause
            case .closed: return
            case .failed:
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
                waking.yield()
            }
        }
    }

    /// Writes what follows the last written event in the ledger.
    private func writeAll() -> Ending {
        var lines: [UInt8] = []
        while !isStopping.load(ordering: .relaxed) {
            lines.removeAll(keepingCapacity: true)
            let start = progress.latest
            let end: UInt64
            do {
                end = try read(after: start, into: &lines)
            } catch {
                // Logged where it happened.
                return .failed
            }
            guard end > start else { return .drained }
            guard write(lines) else { return .closed }
            progress.confirmed(end)
        }
        return .closed
    }

    /// Appends lines.
    ///
    /// - Returns: The number of the last record that was read or skipped.
    private func read(after sequence: UInt64, into lines: inout [UInt8]) throws -> UInt64 {
        try records.withLock { records in
            try records.read(after: sequence) { record, _, batch in
                switch record {
                case .event(let event): CanonicalJSON.append(event, in: batch.events.span, to: &lines)
                case .cycle(let verdict): lines += verdict.json
                case .run(let verdict): lines += verdict.json
                }
                lines.append(UInt8(ascii: "\n"))
                return lines.count < Self.maximumBytes
            }
            return records.sequence
        }
    }

    /// Writes in pieces of PIPE_BUF, which a ready pipe takes whole, so that no write blocks and a stop is noticed in time.
    private func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let ready = unsafe poll(&output, 1, 100)
                if isStopping.load(ordering: .relaxed) { return false }
                if ready == 0 || (ready < 0 && errno == EINTR) { continue }
                let piece = min(bytes.count - offset, Int(PIPE_BUF))
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: offset), piece)
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }
}
