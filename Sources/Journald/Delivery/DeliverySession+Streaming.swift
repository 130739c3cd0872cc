// SPDX-License-Identifier: Apache-2.0

extension DeliverySession {
    /// The most entries to be handed over and unconfirmed now: fewer after losses, which a rate limit may have caused.
    var window: Int {
        max(limits.entriesPerDatagram, limits.windowEntries >> losses)
    }

    /// The most entries in the next datagram.
    var datagramEntries: Int {
        statistics.isBatchingProven ? limits.entriesPerDatagram : 1
    }

    /// How many more entries may be handed over. 0 until a whole datagram fits, so that datagrams stay full.
    var room: Int {
        let span = handled - confirmed
        guard span > 0 else { return window }
        guard log.bytes < limits.windowBytes, span < UInt64(window) else { return 0 }
        let free = window - Int(span)
        return free >= datagramEntries ? free : 0
    }

    mutating func stream(now: UInt64) -> DeliveryStep {
        if hasGap || (hasUnconfirmed && now >= lastProgress + limits.confirmationTimeout) {
            phase = .connecting
            return .connect
        }
        let overdue = hasUnconfirmed ? lastProgress + limits.confirmationTimeout : nil
        guard now >= resumeTime else { return .wait(until: min(resumeTime, overdue ?? resumeTime), forRoom: false) }
        guard !isBlocked else { return .wait(until: overdue, forRoom: true) }
        let room = room
        guard !isDrained, room > 0 else { return .wait(until: overdue, forRoom: false) }
        return .deliver(entries: room)
    }

    /// The source has nothing behind the last entry that was handed over.
    mutating func sourceDrained() {
        sourceFailures = 0
        isDrained = true
    }

    /// The source couldn't be read; it is asked again after a pause.
    mutating func sourceFailed(now: UInt64) {
        sourceFailures += 1
        resumeTime = now + limits.connecting.pause(failures: sourceFailures, random: random.next())
    }

    /// The entries that the next datagram takes from a buffer.
    ///
    /// Passes over entries that stand already and takes note of numbers that the source left out.
    ///
    /// - Parameters:
    ///   - buffer: Entries as the source gave them, behind ``handled``.
    ///   - index: Where to go on in it; moved to the datagram's first entry.
    /// - Returns: Nil when no entry may be sent now.
    mutating func nextDatagram(in buffer: borrowing JournalEntryBuffer, from index: inout Int) -> Range<Int>? {
        guard phase == .streaming else { return nil }
        while index < buffer.count {
            let sequence = buffer.sequence(at: index)
            if sequence > handled {
                if sequence - handled > 1 { skip(handled + 1...sequence - 1) }
                guard standing.contains(sequence) else { break }
                handled = sequence
                absorb()
            }
            index += 1
        }
        let limit = min(datagramEntries, room, buffer.count - index)
        guard limit > 0 else { return nil }
        var end = index + 1
        while end < index + limit {
            let sequence = buffer.sequence(at: end)
            guard sequence == buffer.sequence(at: end - 1) + 1, !standing.contains(sequence),
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
        handled = max(handled, sequences.upperBound)
        log.append(last: sequences.upperBound, bytes: bytes)
    }

    /// journald's queue has no room for a datagram.
    mutating func blocked() {
        isBlocked = true
    }

    /// An entry was read back.
    mutating func readBack(_ sequence: UInt64, now: UInt64) {
        let before = confirmed
        guard learn(sequence) else {
            statistics.repeated += 1
            return
        }
        if confirmed > before {
            lastProgress = now
            progressed(by: confirmed - before)
        } else if sequence <= handled {
            // Entries are sent in ascending order, so the one above `confirmed` was queued before this one.
            hasGap = true
        }
    }

    /// Takes note that an entry stands in the journal.
    ///
    /// - Returns: Whether that was news.
    mutating func learn(_ sequence: UInt64) -> Bool {
        guard sequence > confirmed, !standing.contains(sequence) else { return false }
        guard sequence == confirmed + 1 else {
            guard standing.insert(sequence...sequence) else { return false }
            statistics.confirmed += 1
            return true
        }
        statistics.confirmed += 1
        confirmed = sequence
        absorb()
        return true
    }

    private mutating func skip(_ range: ClosedRange<UInt64>) {
        statistics.skipped += range.upperBound - range.lowerBound + 1 - standing.count(in: range)
        if standing.insert(range) { handled = range.upperBound }
        absorb()
    }

    /// Moves ``confirmed`` over what is known to stand behind it.
    private mutating func absorb() {
        if !standing.isEmpty, let upper = standing.removePrefix(reaching: confirmed + 1) {
            confirmed = max(confirmed, upper)
        }
        handled = max(handled, confirmed)
        log.release(upTo: confirmed)
    }

    private mutating func progressed(by count: UInt64) {
        failures = 0
        guard losses > 0 else { return }
        confirmedSinceLoss += Int(min(count, UInt64(DeliveryLimits.widestWindow)))
        if confirmedSinceLoss >= window {
            losses -= 1
            confirmedSinceLoss = 0
        }
    }
}
