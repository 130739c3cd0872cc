// SPDX-License-Identifier: Apache-2.0

internal import SystemPrimitives

/// The next step that a ``DeliverySession`` asks its driver for.
enum DeliveryStep: Equatable, Sendable {
    /// Make a new connection and open the journal; then ``DeliverySession/connected(now:)``.
    case connect
    /// Send a datagram of markers.
    case sendMarkers(MarkerDatagram)
    /// Poll the journal for the last marker until the given time.
    case pollForMarkers(until: UInt64)
    /// Read which entries the journal holds; then ``DeliverySession/scanned(now:)``.
    case scan
    /// Read at most the given number of entries from the source and send them.
    case deliver(entries: Int)
    /// Wait for the given time, an entry read back, a wake-up, or (when asked for) a writable socket.
    case wait(until: UInt64?, forWritable: Bool)
}

/// Decides what a writer does next so that the journal holds each entry exactly once. It does no I/O and reads no clock:
/// events and the time come in, steps come out.
///
/// Why it is safe: journald processes datagrams in the order in which they were queued. Once a marker has been read
/// back, everything queued before it, by this process or one that was killed, has been stored or dropped; what the
/// journal does not hold then it never will, and may be sent again. So every failure leads through the same gate:
/// connect, markers, scan, and only then entries.
struct DeliverySession: Sendable {
    enum Phase: Equatable, Sendable {
        /// Pausing after a failure.
        case absent(until: UInt64, orWritable: Bool)
        case connecting
        case marking(MarkerDatagram, deadline: UInt64, isBlocked: Bool)
        case awaitingMarkers(deadline: UInt64)
        case scanning
        case streaming
    }

    private let limits: DeliveryLimits
    private var random: SplitMix64
    private(set) var phase = Phase.connecting
    /// The journal holds all entries up to this one.
    private(set) var confirmed: UInt64
    /// Numbers above ``confirmed`` that the journal holds or that the source skipped.
    private var ahead = SequenceRanges()
    /// The last number since the last scan that was sent, found in the journal or skipped.
    private(set) var handled: UInt64
    /// The last number that was ever sent.
    private var highestSent: UInt64
    /// The last number that the journal may hold by right: given before this writer, or sent by it.
    private(set) var given: UInt64
    private var log = DatagramLog()
    private var statistics = JournalDeliveryStatistics()

    /// Synchronisations in a row without an answer.
    private var unanswered = 0
    /// Failures since an entry was last confirmed.
    private var failures = 0
    /// The exponent by which losses narrow the window; confirmations lower it again.
    private var losses = 0
    private var confirmedSinceLoss = 0
    /// The number of the current synchronisation, which its markers carry.
    private(set) var attempt: UInt64 = 0

    private var isBlocked = false
    /// Whether the source has nothing behind ``handled``.
    private(set) var isDrained = false
    /// Whether an entry was read back before one that was sent earlier.
    private var hasGap = false
    private var lastProgress: UInt64 = 0
    private var resumeTime: UInt64 = 0
    private var sourceFailures = 0

    /// - Parameter given: The last number that the journal may hold by right before anything is sent.
    init(limits: DeliveryLimits, confirmed: UInt64, given: UInt64 = .max, seed: UInt64) {
        self.limits = limits
        self.confirmed = confirmed
        self.given = max(given, confirmed)
        handled = confirmed
        highestSent = confirmed
        random = SplitMix64(seed: seed)
    }

    /// Whether entries are sent and not confirmed.
    var hasUnconfirmed: Bool { handled > confirmed }

    /// Whether everything known to be in the journal is confirmed, with nothing ahead of a missing entry.
    var isContiguous: Bool { ahead.isEmpty }

    var state: JournalDeliveryState {
        switch phase {
        case .absent: .absent
        case .connecting, .marking, .awaitingMarkers: unanswered > 0 ? .absent : .synchronising
        case .scanning: .synchronising
        case .streaming: .streaming
        }
    }

    /// The statistics as of now.
    var snapshot: JournalDeliveryStatistics {
        var statistics = statistics
        statistics.state = state
        statistics.position = confirmed
        statistics.unconfirmed = handled - confirmed
        return statistics
    }

    /// The next step.
    mutating func step(now: UInt64) -> DeliveryStep {
        switch phase {
        case .absent(let until, let orWritable):
            guard now >= until else { return .wait(until: until, forWritable: orWritable) }
            phase = .connecting
            return .connect
        case .connecting:
            return .connect
        case .marking(let datagram, let deadline, let isBlocked):
            guard now < deadline else {
                fail(now: now, pause: limits.resending, orWritable: isBlocked)
                return step(now: now)
            }
            return isBlocked ? .wait(until: deadline, forWritable: true) : .sendMarkers(datagram)
        case .awaitingMarkers(let deadline):
            guard now < deadline else {
                fail(now: now, pause: limits.resending)
                return step(now: now)
            }
            return .pollForMarkers(until: deadline)
        case .scanning:
            return .scan
        case .streaming:
            return streamingStep(now: now)
        }
    }

    /// The source may have more entries.
    mutating func sourceHasMore() {
        isDrained = false
    }

    /// journald's queue has room again.
    mutating func socketWritable() {
        switch phase {
        case .absent(_, orWritable: true): phase = .connecting
        case .marking(let datagram, let deadline, _): phase = .marking(datagram, deadline: deadline, isBlocked: false)
        case .streaming: isBlocked = false
        default: break
        }
    }

    /// Reading, sending or scanning failed, so that it is unknown what journald has stored.
    mutating func failed(now: UInt64) {
        fail(now: now, pause: limits.resending)
    }

    private mutating func fail(now: UInt64, pause backoff: Backoff, orWritable: Bool = false) {
        failures += 1
        unanswered += 1
        let pause = backoff.pause(failures: failures, random: random.next())
        phase = .absent(until: now + pause, orWritable: orWritable)
    }

    // MARK: Synchronising

    /// The socket is connected and the journal is open.
    mutating func connected(now: UInt64) {
        guard phase == .connecting else { return }
        attempt += 1
        statistics.synchronisations += 1
        phase = .marking(.pair, deadline: now + limits.markerTimeout, isBlocked: false)
    }

    /// Nothing listens on journald's socket.
    mutating func connectionFailed(now: UInt64) {
        fail(now: now, pause: limits.connecting)
    }

    /// The requested datagram of markers is in journald's queue.
    mutating func markersSent(now: UInt64) {
        guard case .marking(let datagram, let deadline, _) = phase else { return }
        switch datagram {
        case .pair: phase = .marking(.last, deadline: deadline, isBlocked: false)
        case .last: phase = .awaitingMarkers(deadline: now + limits.markerTimeout)
        }
    }

    /// journald's queue has no room for a marker.
    mutating func markersBlocked() {
        guard case .marking(let datagram, let deadline, _) = phase else { return }
        phase = .marking(datagram, deadline: deadline, isBlocked: true)
    }

    /// The last marker was read back.
    ///
    /// - Parameter provesBatching: Whether the second entry of the first datagram was read back too.
    mutating func markersFound(provesBatching: Bool) {
        guard case .awaitingMarkers = phase else { return }
        unanswered = 0
        statistics.isBatchingProven = provesBatching
        phase = .scanning
    }

    /// The scan found an entry in the journal.
    mutating func found(_ sequence: UInt64) {
        _ = record(sequence)
    }

    /// The scan is finished: ``found(_:)`` was called for every entry that the journal holds.
    mutating func scanned(now: UInt64) {
        guard phase == .scanning else { return }
        if handled > confirmed {
            let lost = handled - confirmed - ahead.count(in: confirmed + 1...handled)
            if lost > 0 {
                statistics.lost += lost
                losses = min(losses + 1, 16)
                confirmedSinceLoss = 0
                resumeTime = now + limits.resending.pause(failures: losses, random: random.next())
            }
        }
        handled = confirmed
        log.removeAll()
        isBlocked = false
        isDrained = false
        hasGap = false
        lastProgress = now
        phase = .streaming
    }

    // MARK: Streaming

    /// The maximum number of unconfirmed entries: fewer after losses, which a rate limit may have caused.
    var window: Int {
        max(limits.entriesPerDatagram, limits.windowEntries >> losses)
    }

    /// The maximum number of entries in the next datagram.
    private var datagramEntries: Int {
        statistics.isBatchingProven ? limits.entriesPerDatagram : 1
    }

    /// How many more entries may be sent; 0 until a whole datagram fits, so that datagrams stay full.
    var freeEntries: Int {
        let span = handled - confirmed
        guard span > 0 else { return window }
        guard log.bytes < limits.windowBytes, span < UInt64(window) else { return 0 }
        let free = window - Int(span)
        return free >= datagramEntries ? free : 0
    }

    private mutating func streamingStep(now: UInt64) -> DeliveryStep {
        if hasGap || (hasUnconfirmed && now >= lastProgress + limits.confirmationTimeout) {
            phase = .connecting
            return .connect
        }
        let overdue = hasUnconfirmed ? lastProgress + limits.confirmationTimeout : nil
        guard now >= resumeTime else { return .wait(until: min(resumeTime, overdue ?? resumeTime), forWritable: false) }
        guard !isBlocked else { return .wait(until: overdue, forWritable: true) }
        let free = freeEntries
        guard !isDrained, free > 0 else { return .wait(until: overdue, forWritable: false) }
        return .deliver(entries: free)
    }

    /// The source has nothing behind the last entry that was sent.
    mutating func sourceDrained() {
        sourceFailures = 0
        isDrained = true
    }

    /// The source could not be read; it is retried after a pause.
    mutating func sourceFailed(now: UInt64) {
        sourceFailures += 1
        resumeTime = now + limits.connecting.pause(failures: sourceFailures, random: random.next())
    }

    /// The entries of the next datagram.
    ///
    /// It passes over entries that the journal holds already and records numbers that the source skipped.
    ///
    /// - Parameters:
    ///   - buffer: Entries as the source gave them, behind ``handled``.
    ///   - index: Where to continue in it; moved to the datagram's first entry.
    /// - Returns: Nil when no entry may be sent now.
    mutating func nextDatagram(in buffer: borrowing JournalEntryBuffer, from index: inout Int) -> Range<Int>? {
        guard phase == .streaming else { return nil }
        while index < buffer.count {
            let sequence = buffer.sequence(at: index)
            if sequence > handled {
                if sequence - handled > 1 { skip(handled + 1...sequence - 1) }
                guard ahead.contains(sequence) else { break }
                handled = sequence
                advance()
            }
            index += 1
        }
        let limit = min(datagramEntries, freeEntries, buffer.count - index)
        guard limit > 0 else { return nil }
        var end = index + 1
        while end < index + limit {
            let sequence = buffer.sequence(at: end)
            guard sequence == buffer.sequence(at: end - 1) + 1, !ahead.contains(sequence),
                buffer.byteRange(of: index..<end + 1).count <= limits.bytesPerDatagram
            else { break }
            end += 1
        }
        return index..<end
    }

    /// A datagram with these entries is in journald's queue.
    mutating func sent(_ sequences: ClosedRange<UInt64>, bytes: Int, now: UInt64) {
        if !hasUnconfirmed { lastProgress = now }
        sourceFailures = 0
        let count = sequences.upperBound - sequences.lowerBound + 1
        statistics.written += count
        if sequences.lowerBound <= highestSent {
            statistics.retried += min(highestSent, sequences.upperBound) - sequences.lowerBound + 1
        }
        highestSent = max(highestSent, sequences.upperBound)
        given = max(given, highestSent)
        handled = max(handled, sequences.upperBound)
        log.append(last: sequences.upperBound, bytes: bytes)
    }

    /// journald's queue has no room for a datagram.
    mutating func blocked() {
        isBlocked = true
    }

    /// An entry was read back.
    ///
    /// One that was never sent is a reason to scan the journal again, which finds out whose it is.
    mutating func readBack(_ sequence: UInt64, now: UInt64) {
        guard sequence <= given else {
            hasGap = true
            return
        }
        let before = confirmed
        guard record(sequence) else {
            statistics.repeated += 1
            return
        }
        if confirmed > before {
            lastProgress = now
            widenWindow(confirmed: confirmed - before)
        } else if sequence <= handled {
            // Entries are sent in ascending order, so the one above `confirmed` was queued before this one.
            hasGap = true
        }
    }

    /// Records that the journal holds an entry.
    ///
    /// - Returns: Whether that was unknown.
    private mutating func record(_ sequence: UInt64) -> Bool {
        guard sequence > confirmed, sequence <= given, !ahead.contains(sequence) else { return false }
        guard sequence == confirmed + 1 else {
            guard ahead.insert(sequence...sequence) else { return false }
            statistics.confirmed += 1
            return true
        }
        statistics.confirmed += 1
        confirmed = sequence
        advance()
        return true
    }

    private mutating func skip(_ range: ClosedRange<UInt64>) {
        statistics.skipped += range.upperBound - range.lowerBound + 1 - ahead.count(in: range)
        if ahead.insert(range) { handled = range.upperBound }
        advance()
    }

    /// Moves ``confirmed`` over the numbers in ``ahead`` that follow it without a gap.
    private mutating func advance() {
        if !ahead.isEmpty, let upper = ahead.removePrefix(reaching: confirmed + 1) {
            confirmed = max(confirmed, upper)
        }
        handled = max(handled, confirmed)
        log.release(upTo: confirmed)
    }

    private mutating func widenWindow(confirmed count: UInt64) {
        failures = 0
        guard losses > 0 else { return }
        confirmedSinceLoss += Int(min(count, UInt64(DeliveryLimits.widestWindow)))
        if confirmedSinceLoss >= window {
            losses -= 1
            confirmedSinceLoss = 0
        }
    }
}
