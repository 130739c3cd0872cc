// SPDX-License-Identifier: Apache-2.0

/// Reads what a destination of log records does not have yet.
package protocol LogSource: Sendable {
    /// The number of the last record that the destination took.
    var position: UInt64 { get }

    /// Encodes the records that follow a number until `logs` has so many bytes; blocks.
    ///
    /// - Returns: the number of the last record that was read or skipped; the given one where there is none.
    func read(after sequence: UInt64, into logs: inout OTLPLogs, maximumBytes: Int) throws -> UInt64

    /// The destination has all records up to a number, or refused them.
    func delivered(_ sequence: UInt64)
}

/// Sends the records of the ledger to one destination, in order and at least once, from its own position.
///
/// While one request is under way the next one is read; nothing else is kept in memory, however long a destination is away.
package struct LogsExport: Sendable {
    private struct Batch: Sendable {
        var request: ExportSession.Prepared
        var count: Int
        var end: UInt64
    }

    /// The pause after a failure to read.
    private static let readingPause = Duration.seconds(1)

    private let session: ExportSession
    private let source: any LogSource
    private let logs: OTLPLogs
    private let wakeUps: AsyncStream<Void>
    private let waking: AsyncStream<Void>.Continuation

    /// - Parameter logs: without records.
    package init(_ session: ExportSession, _ source: any LogSource, _ logs: OTLPLogs) {
        self.session = session
        self.source = source
        self.logs = logs
        (wakeUps, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Says that there may be more to send.
    package func wake() { waking.yield() }

    /// Runs until it is cancelled.
    package func run() async {
        var wakeUps = wakeUps.makeAsyncIterator()
        var position = source.position
        var ahead: Batch?
        while !Task.isCancelled {
            guard let batch = await takeOrRead(&ahead, after: position) else {
                try? await Task.sleep(for: Self.readingPause)
                continue
            }
            guard batch.end > position else {
                ahead = nil
                _ = await wakeUps.next()
                continue
            }
            if batch.count > 0 {
                var decision: DeliveryState.Decision
                repeat {
                    try? await Task.sleep(for: session.pause)
                    if Task.isCancelled { return }
                    async let following = ahead == nil ? read(after: batch.end) : ahead
                    decision = await session.sendOTLP(batch.request, count: batch.count)
                    ahead = await following
                } while decision == .again
                if decision == .less {
                    ahead = nil
                    continue
                }
            }
            position = batch.end
            source.delivered(position)
        }
    }

    private func takeOrRead(_ ahead: inout Batch?, after position: UInt64) async -> Batch? {
        defer { ahead = nil }
        if let ahead, ahead.end > position { return ahead }
        return await read(after: position)
    }

    /// Nil where nothing can be read, which the source has logged. An end at the position: there is nothing.
    private func read(after position: UInt64) async -> Batch? {
        let (source, session, limit) = (source, session, session.limit)
        let empty = logs
        return await EncodingThread.run {
            var logs = empty
            let end = try source.read(after: position, into: &logs, maximumBytes: limit)
            let count = logs.count
            return Batch(request: session.prepare(logs.finish() ?? []), count: count, end: end)
        }
    }
}
