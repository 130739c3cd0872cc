// SPDX-License-Identifier: Apache-2.0

internal import SystemPrimitives

/// Carries out the steps of a ``DeliverySession``: all I/O of a writer, on the writer's thread.
final class DeliveryDriver {
    /// The maximum number of entries read back before more are sent.
    private static let entriesPerTurn = 4_096
    /// How long nothing is read back before the journal is reopened, in nanoseconds: libsystemd does not notice a directory
    /// that appears after it opened the journal, such as that in /run to which journald turns while it cannot write to /var.
    private static let reopeningPause: UInt64 = 250_000_000

    private let configuration: JournalDeliveryConfiguration
    private let control: DeliveryControl
    private let onConfirmed: @Sendable (UInt64) -> Void
    private let onCompared: @Sendable (JournalComparison) throws -> StreamNames?
    private var markers: DeliveryMarkers
    private var view: DeliveryView

    private var session: DeliverySession
    private var checkpoint: JournalCheckpoint
    private var checkpointTime: UInt64 = 0
    private var outgoing: OutgoingEntries
    private var socket = DeliverySocket()
    private var reader: JournalReader?
    private var polls = JournalPolls()
    /// When the journal is reopened if nothing was read back by then.
    private var nextReopeningTime: UInt64 = 0
    private var journalChanged = false
    /// Whether the reader has read an entry of the stream.
    private var hasRead = false
    private var readsSinceOpening = 0
    /// When an entry was last unconfirmed.
    private var lastActivity: UInt64 = 0
    private var reportedPosition: UInt64
    private var lastError: String?

    init(
        _ configuration: JournalDeliveryConfiguration,
        _ checkpoint: JournalCheckpoint,
        _ source: any JournalSource,
        _ control: DeliveryControl,
        _ onCompared: @escaping @Sendable (JournalComparison) throws -> StreamNames?,
        _ onConfirmed: @escaping @Sendable (UInt64) -> Void
    ) {
        var random = SystemRandomNumberGenerator()
        self.configuration = configuration
        self.checkpoint = checkpoint
        self.control = control
        self.onCompared = onCompared
        self.onConfirmed = onConfirmed
        reportedPosition = checkpoint.position
        markers = DeliveryMarkers(identifier: configuration.identifier, random: &random)
        view = DeliveryView(configuration)
        session = DeliverySession(
            limits: DeliveryLimits(configuration),
            confirmed: checkpoint.position,
            given: configuration.given,
            seed: random.next()
        )
        outgoing = OutgoingEntries(source, JournalEntryBuffer(configuration, configuration.streams))
    }

    /// Runs until the writer is asked to stop.
    func run() {
        while !mustEnd {
            readBack()
            let step = session.step(now: SystemClock.monotonicNanoseconds())
            // An open journal would hold the space of files that journald has deleted, perhaps for the lack of it.
            if case .absent = session.phase { reader = nil }
            perform(step)
            publish()
        }
        takeCheckpoint(now: SystemClock.monotonicNanoseconds(), interval: 0)
        publish()
    }

    private var mustEnd: Bool {
        switch control.ending {
        case .no: false
        case .now: true
        case .draining:
            switch session.phase {
            case .absent: true
            case .streaming where session.isDrained && !session.hasUnconfirmed: true
            default: control.isPastDeadline
            }
        }
    }

    private func perform(_ step: DeliveryStep) {
        switch step {
        case .connect: connect()
        case .sendMarkers(let datagram): sendMarkers(datagram)
        case .pollForMarkers(let until): pollForMarkers(until: until)
        case .scan: scan()
        case .deliver(let entries): deliver(entries)
        case .wait(let until, let forWritable): wait(until: waitLimit(until), forWritable: forWritable)
        }
    }

    /// Records a failure after which it is unknown what journald has stored.
    private func fail(_ error: any Error) {
        lastError = "\(error)"
        session.failed(now: SystemClock.monotonicNanoseconds())
    }

    private func publish() {
        var statistics = session.snapshot
        statistics.reconnects = max(socket.connections, 1) - 1
        statistics.lastError = lastError
        if session.confirmed > reportedPosition {
            reportedPosition = session.confirmed
            onConfirmed(reportedPosition)
        }
        control.publish(statistics, checkpoint)
    }

    // MARK: Synchronising

    /// Connects a new socket and reopens the journal.
    private func connect() {
        socket.close()
        reader = nil
        markers.forget()
        hasRead = false
        polls = JournalPolls()
        outgoing.removeAll()
        do {
            try socket.open(path: configuration.socketPath)
        } catch {
            lastError = "\(error)"
            session.connectionFailed(now: SystemClock.monotonicNanoseconds())
            return
        }
        do {
            let opened = try JournalReader(configuration.location, scope: .ownEntries)
            _ = try opened.descriptor()
            reader = opened
            session.connected(now: SystemClock.monotonicNanoseconds())
            try markers.select(attempt: session.attempt, in: opened)
        } catch {
            fail(error)
        }
    }

    private func sendMarkers(_ datagram: MarkerDatagram) {
        do {
            switch socket.send(try markers.datagram(datagram, attempt: session.attempt)) {
            case .sent:
                session.markersSent(now: SystemClock.monotonicNanoseconds())
            case .wouldBlock:
                session.markersBlocked()
            case .absent(let error), .tooLarge(let error):
                fail(JournalSocketError.connect(path: configuration.socketPath, error))
            case nil:
                session.failed(now: SystemClock.monotonicNanoseconds())
            }
        } catch {
            fail(error)
        }
    }

    /// Polls for the last marker, or waits for the time of the next poll.
    private func pollForMarkers(until: UInt64) {
        guard SystemClock.monotonicNanoseconds() >= polls.nextTime else {
            return wait(until: min(until, polls.nextTime), forWritable: false)
        }
        do {
            if polls.begin() { try reader?.reopen() }
            var places = try markers.read(reader)
            if places.contains(DeliveryMarkers.lastPlace), !places.contains(2) {
                try reader?.reopen()
                places = try markers.read(reader)
            }
            guard places.contains(DeliveryMarkers.lastPlace) else {
                polls.missed(now: SystemClock.monotonicNanoseconds())
                if polls.nextTime >= until { lastError = DeliveryMarkers.unanswered(in: configuration.location) }
                return
            }
            polls.found()
            session.markersFound(provesBatching: places.contains(2))
        } catch {
            fail(error)
        }
    }

    /// Finds out which entries above the confirmed position the journal holds.
    private func scan() {
        guard let reader, let markerCursor = markers.lastCursor else {
            return session.failed(now: SystemClock.monotonicNanoseconds())
        }
        let scan = JournalScan(
            view: view,
            limit: configuration.scanLimit,
            markerID: markers.id(attempt: session.attempt),
            cursor: checkpoint.cursor,
            isCancelled: { [control] in control.isPastDeadline }
        )
        do {
            guard let comparison = try scan.run(reader, into: &session) else { return }
            if let streams = try onCompared(comparison), streams != view.streams {
                view.streams = streams
                outgoing.encode(with: JournalEntryBuffer(configuration, streams))
            }
            try reader.reopen()
            try reader.setMatches(view.entries)
            try reader.seek(cursor: markerCursor)
            hasRead = false
            readsSinceOpening = 0
            lastActivity = SystemClock.monotonicNanoseconds()
            session.scanned(now: SystemClock.monotonicNanoseconds())
            if session.isContiguous {
                checkpoint = JournalCheckpoint(position: session.confirmed, cursor: markerCursor)
                checkpointTime = SystemClock.monotonicNanoseconds()
            }
        } catch {
            fail(error)
        }
    }

    // MARK: Streaming

    /// Reads back sent entries, takes checkpoints, and closes an idle journal.
    private func readBack() {
        guard session.phase == .streaming else { return }
        let now = SystemClock.monotonicNanoseconds()
        if session.hasUnconfirmed { lastActivity = now }
        do {
            guard let reader = try openedReader() else { return }
            if journalChanged {
                journalChanged = false
                try reader.process()
            }
            guard session.hasUnconfirmed else {
                takeCheckpoint(now: now, interval: configuration.cursorInterval.clampedNanoseconds)
                if mayCloseReader, now >= lastActivity + configuration.readerIdleTime.clampedNanoseconds {
                    self.reader = nil
                }
                return
            }
            let before = session.confirmed
            var entries = 0
            while entries < Self.entriesPerTurn, try reader.next() {
                entries += 1
                // An unreadable entry counts as not stored for now: the session finds the gap and scans the journal.
                guard let sequence = (try? view.sequence(in: reader)) ?? nil else { continue }
                session.readBack(sequence, now: now)
                hasRead = true
            }
            readsSinceOpening += entries
            try releaseMemory(of: reader)
            try findDirectories(reader, hasRead: entries > 0, now: now)
            if session.confirmed > before { polls.found() }
            takeCheckpoint(now: now, interval: configuration.cursorInterval.clampedNanoseconds)
        } catch {
            fail(error)
        }
    }

    /// Reopens the journal after a number of entries, because libsystemd keeps up to half a gigabyte of the files that
    /// it has read mapped.
    private func releaseMemory(of reader: JournalReader) throws(JournalReaderError) {
        guard readsSinceOpening >= configuration.readsPerOpening else { return }
        try reader.reopen()
        readsSinceOpening = 0
    }

    /// Reopens the journal while entries are expected and none is read.
    private func findDirectories(_ reader: JournalReader, hasRead: Bool, now: UInt64) throws(JournalReaderError) {
        if !hasRead {
            guard now >= nextReopeningTime else { return }
            try reader.reopen()
        }
        nextReopeningTime = now + Self.reopeningPause
    }

    /// Whether the journal may be closed until the next send: every later entry follows the checkpoint.
    private var mayCloseReader: Bool {
        session.phase == .streaming && reader != nil && !session.hasUnconfirmed && session.isContiguous
            && checkpoint.cursor != nil && checkpoint.position == session.confirmed
    }

    /// The reader; one that was closed is reopened at the checkpoint when something is unconfirmed.
    private func openedReader() throws(JournalReaderError) -> JournalReader? {
        if let reader { return reader }
        guard session.hasUnconfirmed, let cursor = checkpoint.cursor else { return nil }
        let opened = try JournalReader(configuration.location, scope: .ownEntries)
        _ = try opened.descriptor()
        try opened.setMatches(view.entries)
        hasRead = try opened.seek(cursor: cursor)
        readsSinceOpening = 0
        reader = opened
        return opened
    }

    /// Whether the checkpoint can be advanced.
    private var isCheckpointDue: Bool {
        session.phase == .streaming && session.isContiguous && session.confirmed > checkpoint.position && hasRead
    }

    /// Advances the checkpoint to the reader's current entry: every entry above the confirmed position follows it.
    private func takeCheckpoint(now: UInt64, interval: UInt64) {
        guard isCheckpointDue, now >= checkpointTime + interval, let cursor = try? reader?.cursor() else { return }
        checkpoint = JournalCheckpoint(position: session.confirmed, cursor: cursor)
        checkpointTime = now
    }

    /// Sends entries of the source until the window, the source or journald's queue is exhausted.
    private func deliver(_ entries: Int) {
        guard !outgoing.isSent || fill(entries) else { return }
        if !session.hasUnconfirmed { nextReopeningTime = SystemClock.monotonicNanoseconds() + Self.reopeningPause }
        while let range = outgoing.nextDatagram(of: &session) {
            guard send(range) else { return }
            outgoing.sent(range)
        }
    }

    private func fill(_ entries: Int) -> Bool {
        do {
            let hasEntries = try outgoing.fill(after: session.handled, limit: entries)
            if !hasEntries { session.sourceDrained() }
            return hasEntries
        } catch {
            lastError = "the source of entries can't be read: \(error)"
            session.sourceFailed(now: SystemClock.monotonicNanoseconds())
            return false
        }
    }

    private func send(_ range: Range<Int>) -> Bool {
        let bytes = outgoing.buffer.byteRange(of: range)
        switch unsafe socket.send(outgoing.buffer.bytes.span.bytes.extracting(bytes)) {
        case .sent:
            session.sent(outgoing.sequences(of: range), bytes: bytes.count, now: SystemClock.monotonicNanoseconds())
            return true
        case .wouldBlock:
            session.blocked()
        case .absent(let error):
            fail(JournalSocketError.connect(path: configuration.socketPath, error))
        case .tooLarge(let error):
            lastError =
                "entry \(outgoing.sequences(of: range).lowerBound) of \(bytes.count) bytes can be sent neither as a datagram nor as a file: \(error)"
            session.failed(now: SystemClock.monotonicNanoseconds())
        case nil:
            session.failed(now: SystemClock.monotonicNanoseconds())
        }
        return false
    }

    // MARK: Waiting

    /// Waits for a wake-up, a change of the journal, and (when asked for) a writable socket.
    ///
    /// - Parameter until: The monotonic time in nanoseconds when to stop waiting; nil for no limit.
    private func wait(until: UInt64?, forWritable: Bool) {
        let polledSocket = forWritable ? socket.polledDescriptor : -1
        let now = SystemClock.monotonicNanoseconds()
        var limit = until
        if forWritable, polledSocket < 0 { limit = min(limit ?? .max, now + JournalPolls.longestPause) }
        let milliseconds = limit.map { $0 <= now ? 0 : Int32(min(($0 - now + 999_999) / 1_000_000, 60_000)) } ?? -1
        let events = control.wakeDescriptor.wait(
            readable: watchedDescriptor,
            writable: polledSocket,
            milliseconds: milliseconds
        )
        if events.isWoken { session.sourceHasMore() }
        journalChanged = journalChanged || events.isReadable
        if forWritable, events.isWritable || polledSocket < 0 {
            session.socketWritable()
        }
    }

    /// A wait's limit, or the time of the next poll of the journal or the next checkpoint where that is earlier.
    private func waitLimit(_ until: UInt64?) -> UInt64? {
        guard session.phase == .streaming else { return until }
        let now = SystemClock.monotonicNanoseconds()
        var limit = until
        if session.hasUnconfirmed {
            limit = min(limit ?? .max, now + polls.takePause())
        } else if isCheckpointDue {
            limit = min(limit ?? .max, checkpointTime + configuration.cursorInterval.clampedNanoseconds)
        } else if mayCloseReader {
            limit = min(limit ?? .max, lastActivity + configuration.readerIdleTime.clampedNanoseconds)
        }
        return limit
    }

    private var watchedDescriptor: Int32 {
        guard session.phase == .streaming, let reader else { return -1 }
        return (try? reader.descriptor()) ?? -1
    }
}

extension JournalScope {
    /// The files that may hold this process's own entries: journald keeps those of users other than system users apart.
    fileprivate static let ownEntries: JournalScope = [.localOnly, .system, .currentUser]
}
