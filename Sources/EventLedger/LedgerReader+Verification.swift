// SPDX-License-Identifier: Apache-2.0

extension LedgerReader {
    /// Reads batches for the sake of their soundness: checksums, ids without gaps, sequence numbers without gaps.
    ///
    /// Call it again with ``LedgerVerification/next`` until that is nil; each call reads up to `limit`.
    public func verify(
        afterBatch batch: Int64 = 0,
        limit: ReadLimit = ReadLimit(batches: 4096, bytes: 64 << 20)
    ) throws(LedgerError) -> LedgerVerification {
        try connection.access { (database) throws(LedgerError) in
            var verification = LedgerVerification()
            var bytes = 0
            var previous: LedgerPosition?
            try BatchTable(database).scan(after: batch) { (row) throws(LedgerError) in
                verification.batches += 1
                switch row {
                case .success(let stored):
                    verification.events += UInt64(stored.batch.count)
                    bytes += stored.batch.receipt.count + stored.batch.events.count
                    if let previous,
                        stored.id != previous.batch + 1 || stored.firstSequence != previous.sequence + 1
                    {
                        verification.findings.append(
                            .init(
                                batch: stored.id,
                                detail: "it begins with sequence \(stored.firstSequence) and follows \(previous)"
                            )
                        )
                    }
                    previous = stored.position
                    verification.next = stored.id
                case .failure(.damagedBatch(let id, let detail)):
                    verification.findings.append(.init(batch: id, detail: detail))
                    previous = nil
                    verification.next = id
                case .failure(let error):
                    throw error
                }
                return verification.batches < limit.batches && bytes < limit.bytes
                    && verification.findings.count < LedgerVerification.maximumFindings
            }
            let isFull =
                verification.batches >= limit.batches || bytes >= limit.bytes
                || verification.findings.count >= LedgerVerification.maximumFindings
            if !isFull { verification.next = nil }
            return verification
        }
    }
}
