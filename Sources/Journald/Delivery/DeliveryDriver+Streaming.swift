// SPDX-License-Identifier: Apache-2.0

extension DeliveryDriver {
    /// Reads entries back.
    func follow() {
        guard session.phase == .streaming else { return }
        let now = MonotonicClock.now()
        if session.hasUnconfirmed { lastActivity = now }
        do {
            guard let reader = try openedReader() else { return }
            if journalChanged {
                journalChanged = false
                try reader.process()
            }
            guard session.hasUnconfirmed else {
                takeCheckpoint(now: now, interval: configuration.cursorInterval.nanoseconds)
                if mayCloseReader, now >= lastActivity + configuration.readerIdleTime.nanoseconds {
                    self.reader = nil
                }
                return
            }
            let before = session.confirmed
            var entries = 0
            while entries < Self.entriesPerTurn, try reader.next() {
                entries += 1
                // An entry that can't be read doesn't stand: it is found to be missing and sent again.
                guard let sequence = try? reader.number(of: configuration.sequenceField) else { continue }
                session.readBack(sequence, now: now)
                hasRead = true
            }
            readsSinceOpening += entries
            try releaseMemory(of: reader)
            if session.confirmed > before { lookPause = Self.firstLook }
            takeCheckpoint(now: now, interval: configuration.cursorInterval.nanoseconds)
        } catch {
            fail(error)
        }
    }

    /// Opens the journal anew after the given number of entries: libsystemd keeps up to half a gigabyte of the files
    /// that it has read mapped.
    private func releaseMemory(of reader: JournalReader) throws(JournalReaderError) {
        guard readsSinceOpening >= configuration.readsPerOpening else { return }
        try reader.reopen()
        readsSinceOpening = 0
    }

    /// Whether the journal may be closed until something is sent: all that comes then stands behind the checkpoint.
    var mayCloseReader: Bool {
        session.phase == .streaming && reader != nil && !session.hasUnconfirmed && session.isSettled
            && checkpoint.cursor != nil && checkpoint.position == session.confirmed
    }

    /// The reader, opened again at the checkpoint when something is to be read back and it was closed.
    private func openedReader() throws(JournalReaderError) -> JournalReader? {
        if let reader { return reader }
        guard session.hasUnconfirmed, let cursor = checkpoint.cursor else { return nil }
        let opened = try JournalReader(configuration.location, scope: .ownEntries)
        _ = try opened.descriptor()
        try opened.setMatches([.equal(configuration.streamField, configuration.stream)])
        hasRead = try opened.seek(cursor: cursor)
        readsSinceOpening = 0
        reader = opened
        return opened
    }

    /// Whether the checkpoint could be brought forward.
    var isCheckpointDue: Bool {
        session.phase == .streaming && session.isSettled && session.confirmed > checkpoint.position
            && hasRead
    }

    /// Brings the checkpoint forward to the entry that the reader stands on: every entry above the confirmed position
    /// is still to be read.
    func takeCheckpoint(now: UInt64, interval: UInt64) {
        guard isCheckpointDue, now >= checkpointTime + interval, let cursor = try? reader?.cursor() else { return }
        checkpoint = JournalCheckpoint(position: session.confirmed, cursor: cursor)
        checkpointTime = now
    }

    /// Reads entries from the source and sends them until the room, the source or journald's queue is exhausted.
    func deliver(_ entries: Int) {
        guard nextEntry < buffer.count || fill(entries) else { return }
        while let range = session.nextDatagram(in: buffer, from: &nextEntry) {
            guard send(range) else { return }
            nextEntry = range.upperBound
        }
    }

    private func fill(_ entries: Int) -> Bool {
        buffer.removeAll()
        nextEntry = 0
        do {
            try source.read(after: session.handled, limit: min(entries, Self.entriesPerRead), into: &buffer)
        } catch {
            lastError = "the source of entries can't be read: \(error)"
            session.sourceFailed(now: MonotonicClock.now())
            buffer.removeAll()
            return false
        }
        if buffer.isEmpty { session.sourceDrained() }
        return !buffer.isEmpty
    }

    private func send(_ range: Range<Int>) -> Bool {
        let bytes = buffer.byteRange(of: range)
        let result = unsafe socket?.send(buffer.bytes.span.bytes.extracting(bytes))
        switch result {
        case .sent:
            vainSends = 0
            let sequences = buffer.sequence(at: range.lowerBound)...buffer.sequence(at: range.upperBound - 1)
            session.sent(sequences, bytes: bytes.count, now: MonotonicClock.now())
            return true
        case .wouldBlock:
            vainSends += 1
            session.blocked()
        case .absent(let error):
            fail(JournalSocketError.connect(path: configuration.socketPath, error))
        case .tooLarge(let error):
            let sequence = buffer.sequence(at: range.lowerBound)
            lastError = "entry \(sequence) with \(bytes.count) bytes could be passed in no way: \(error)"
            session.failed(now: MonotonicClock.now())
        case nil:
            session.failed(now: MonotonicClock.now())
        }
        return false
    }
}
