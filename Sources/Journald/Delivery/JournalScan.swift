// SPDX-License-Identifier: Apache-2.0

/// Finds out which entries of a stream above the confirmed position are stored in the journal.
///
/// Stored means that readers find the entry by its identifier, as `journalctl -t` does. A journald that is killed while it
/// appends an entry can leave it in the file and missing in the index, where only those find it who read every entry.
///
/// What stands under the stream's names and is not its own is left to the comparison.
struct JournalScan {
    /// How often files may appear or disappear during a scan before it is given up for now.
    private static let maximumAttempts = 5
    /// How many entries are read between two calls of ``isCancelled``.
    private static let entriesPerCheck = 1_024

    let view: DeliveryView
    /// The maximum number of entries to read behind the cursor before those of the stream alone are read.
    let limit: Int
    /// The id of the markers of the synchronisation that this scan belongs to.
    let markerID: [UInt8]
    /// A cursor behind which every unconfirmed entry is stored; nil when none is known.
    let cursor: String?
    /// Whether to give up a long scan, because the writer stops.
    let isCancelled: () -> Bool

    /// Passes the number of every stored entry to the session, and starts over when files came or went meanwhile.
    ///
    /// - Returns: What is not the stream's own; nil when the scan was not finished.
    func run(_ reader: JournalReader, into session: inout DeliverySession) throws -> JournalComparison? {
        var sorter = StreamSorter(view.streams, given: session.given)
        var attempts = 0
        repeat {
            guard attempts < Self.maximumAttempts else { throw JournalScanError.unsteady }
            attempts += 1
            // Reopening finds files that appeared before; process() reports those that appear from here on.
            try reader.reopen()
            try reader.process()
            guard try scan(reader, &session, &sorter) else { return nil }
        } while try reader.process() == .filesChanged
        return sorter.comparison
    }

    private func scan(
        _ reader: JournalReader,
        _ session: inout DeliverySession,
        _ sorter: inout StreamSorter
    ) throws(JournalReaderError) -> Bool {
        if let cursor {
            try reader.setMatches(view.entriesAndMarkers)
            if try reader.seek(cursor: cursor) {
                switch try scanAll(reader, &session, &sorter) {
                case .marker: return true
                case .cancelled: return false
                case .end: return try scanStream(reader, &session, &sorter, toHead: true)
                case .limit: break
                }
            }
        }
        return try scanStream(reader, &session, &sorter, toHead: false)
    }

    private enum ScanEnd {
        /// The last marker: no entry of this stream follows it.
        case marker
        /// The journal's end without the marker: the clock was set back, so the order of files is not that of storing.
        case end
        case limit
        case cancelled
    }

    /// Reads the entries of the identifier behind the checkpoint, of all streams, up to the last marker.
    private func scanAll(
        _ reader: JournalReader,
        _ session: inout DeliverySession,
        _ sorter: inout StreamSorter
    ) throws(JournalReaderError) -> ScanEnd {
        var entries = 0
        while try reader.next() {
            entries += 1
            if entries.isMultiple(of: Self.entriesPerCheck) {
                if isCancelled() { return .cancelled }
                if entries >= limit { return .limit }
            }
            if let entry = try entry(in: reader, sorter, isSelected: false) {
                if sorter.admits(entry.number, of: entry.part) { session.found(entry.number) }
            } else if try isMarker(reader) {
                return .marker
            }
        }
        return .end
    }

    /// Reads the stream's entries backwards from the last one until no entry above the confirmed position can follow.
    ///
    /// By the indexes of the identifier and of the stream, so that it doesn't read all that other streams have left in a
    /// large journal. An entry that a killed journald left in the first index alone is therefore sent again.
    ///
    /// - Parameter toHead: Whether to read all of them, because they are not in the order in which they were stored.
    /// - Returns: Whether the scan was finished.
    private func scanStream(
        _ reader: JournalReader,
        _ session: inout DeliverySession,
        _ sorter: inout StreamSorter,
        toHead: Bool
    ) throws(JournalReaderError) -> Bool {
        try reader.setMatches(view.entriesOfStream)
        try reader.seekToTail()
        var entries = 0
        // No writer sends an entry before all those a window below it are confirmed.
        let (low, isBelow) = session.confirmed.subtractingReportingOverflow(UInt64(DeliveryLimits.widestWindow))
        while try reader.previous() {
            entries += 1
            if entries.isMultiple(of: Self.entriesPerCheck), isCancelled() { return false }
            guard let entry = try entry(in: reader, sorter, isSelected: true),
                sorter.admits(entry.number, of: entry.part)
            else { continue }
            session.found(entry.number)
            if !toHead, !isBelow, entry.number <= low { break }
        }
        return true
    }

    /// The number of the reader's current entry, and the part of the stream whose name it has; nil for an entry of another
    /// stream, and for a damaged one, which nobody else reads either.
    private func entry(
        in reader: JournalReader,
        _ sorter: StreamSorter,
        isSelected: Bool
    ) throws(JournalReaderError) -> (number: UInt64, part: Int)? {
        do {
            guard let number = try view.number(in: reader),
                let part = try sorter.part(of: reader, view.streamField, isSelected: isSelected)
            else { return nil }
            return (number, part)
        } catch {
            guard error.isOfOneEntry else { throw error }
            return nil
        }
    }

    private func isMarker(_ reader: JournalReader) throws(JournalReaderError) -> Bool {
        do {
            return try DeliveryMarkers.isLast(reader, id: markerID)
        } catch {
            guard error.isOfOneEntry else { throw error }
            return false
        }
    }
}

/// Why a scan of the journal was given up.
private enum JournalScanError: Error, CustomStringConvertible {
    case unsteady

    var description: String {
        "the journal's files kept changing while it was scanned; the scan is retried"
    }
}
