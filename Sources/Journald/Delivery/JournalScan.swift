// SPDX-License-Identifier: Apache-2.0

extension DeliveryDriver {
    /// How often files may come or go while the journal is scanned before the scan is given up for now.
    static let maximumScans = 5

    /// Finds out which entries above the confirmed position stand in the journal.
    func scan() {
        guard let reader, let markerCursor else { return session.failed(now: MonotonicClock.now()) }
        do {
            var scans = 0
            repeat {
                guard scans < Self.maximumScans else { throw DeliveryScanError.unsteady }
                scans += 1
                // Files that came since are opened; what changes from here on is told by process().
                try reader.reopen()
                try reader.process()
                guard try scan(reader, upTo: markerCursor) else { return }
            } while try reader.process() == .filesChanged

            try reader.reopen()
            try reader.setMatches([.equal(configuration.streamField, configuration.stream)])
            try reader.seek(cursor: markerCursor)
            hasRead = false
            readsSinceOpening = 0
            lastActivity = MonotonicClock.now()
            session.scanned(now: MonotonicClock.now())
            if session.isSettled {
                checkpoint = JournalCheckpoint(position: session.confirmed, cursor: markerCursor)
                checkpointTime = MonotonicClock.now()
            }
        } catch {
            fail(error)
        }
    }

    /// - Returns: Whether the scan was finished.
    private func scan(_ reader: JournalReader, upTo markerCursor: String) throws(JournalReaderError) -> Bool {
        if let cursor = checkpoint.cursor {
            try reader.setMatches([])
            if try reader.seek(cursor: cursor) {
                switch try scanAll(reader) {
                case .marker: return true
                case .interrupted: return false
                case .end: return try scanStream(reader, toHead: true)
                case .limit: break
                }
            }
        }
        return try scanStream(reader, toHead: false)
    }

    private enum ScanEnd {
        /// The last marker: nothing of this stream comes behind it.
        case marker
        /// The journal's end without the marker: the clock was set back and the order of files is not that of time.
        case end
        case limit
        case interrupted
    }

    /// Reads every entry behind the checkpoint.
    ///
    /// Not by the index of the stream's entries: a journald that is killed while it appends an entry can leave it
    /// readable and not yet in the index.
    private func scanAll(_ reader: JournalReader) throws(JournalReaderError) -> ScanEnd {
        let id = Array(markers.id(attempt: session.attempt).utf8)
        var entries = 0
        while try reader.next() {
            entries += 1
            if entries.isMultiple(of: 1_024) {
                if mustHurry { return .interrupted }
                if entries >= configuration.scanLimit { return .limit }
            }
            if let sequence = (try? reader.number(of: configuration.sequenceField)) ?? nil {
                if (try? reader.hasValue(streamValue, of: configuration.streamField)) == true {
                    session.found(sequence)
                }
            } else if (try? reader.number(of: DeliveryMarkers.placeField)) == 3,
                (try? reader.hasValue(id, of: DeliveryMarkers.idField)) == true
            {
                return .marker
            }
        }
        return .end
    }

    /// Reads the stream's entries from the last one back, by the index, until no entry above the confirmed position
    /// can come any more.
    ///
    /// - Parameter toHead: Whether to read all of them, because their order isn't that in which they were stored.
    /// - Returns: Whether the scan was finished.
    private func scanStream(_ reader: JournalReader, toHead: Bool) throws(JournalReaderError) -> Bool {
        try reader.setMatches([.equal(configuration.streamField, configuration.stream)])
        try reader.seekToTail()
        var entries = 0
        // No writer hands an entry over before all are confirmed that lie a window below it.
        let (low, isBelow) = session.confirmed.subtractingReportingOverflow(UInt64(DeliveryLimits.widestWindow))
        while try reader.previous() {
            entries += 1
            if entries.isMultiple(of: 1_024), mustHurry { return false }
            guard let sequence = (try? reader.number(of: configuration.sequenceField)) ?? nil else { continue }
            session.found(sequence)
            if !toHead, !isBelow, sequence <= low { break }
        }
        return true
    }
}
