// SPDX-License-Identifier: Apache-2.0

extension IdentityKey {
    /// What makes two events the same (SPEC 4.2): installation, schedule, kind, timestamp and `eventId`.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func identity(of event: borrowing Event, in bytes: Span<UInt8>) -> UInt64 {
        identity(of: event, in: bytes, after: scheduleHash(of: event, in: bytes))
    }

    /// The identity and what `schedule(of:in:)` tells at once, which takes little more than one of them.
    public func hashes(of event: borrowing Event, in bytes: Span<UInt8>) -> (identity: UInt64, schedule: UInt64?) {
        let schedule = scheduleHash(of: event, in: bytes)
        let identity = identity(of: event, in: bytes, after: schedule)
        return (identity, event.scheduleId.isEmpty ? nil : schedule.finalized())
    }

    /// The hash of two words, such as an installation and a time.
    public func hash(_ first: UInt64, _ second: UInt64) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(first)
        hash.combine(second)
        return hash.finalized()
    }

    @inline(__always)
    private func identity(of event: borrowing Event, in bytes: Span<UInt8>, after schedule: KeyedHash) -> UInt64 {
        var hash = schedule
        hash.combine(UInt64(event.kind.rawValue))
        hash.combine(UInt64(bitPattern: event.timestamp.microseconds))
        if !event.eventId.isEmpty { hash.combine(bytes, event.eventId) }
        return hash.finalized()
    }

    /// What makes two events belong to one cycle (SPEC 2): installation and schedule id, or notification time.
    ///
    /// Nil for an event that names neither.
    public func cycle(of event: Event, in bytes: Span<UInt8>) -> UInt64? {
        guard !event.scheduleId.isEmpty || event.scheduledFor != nil else { return nil }
        return scheduleHash(of: event, in: bytes).finalized()
    }

    /// The hash of installation and schedule id; nil for an event without a schedule id.
    public func schedule(of event: Event, in bytes: Span<UInt8>) -> UInt64? {
        event.scheduleId.isEmpty ? nil : scheduleHash(of: event, in: bytes).finalized()
    }

    /// What makes two batches the same: the `Idempotency-Key` of their sender.
    public func batch(idempotencyKey: Span<UInt8>) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(0xB)
        hash.combine(idempotencyKey, 0..<idempotencyKey.count)
        return hash.finalized()
    }

    /// The same with the body, by which a key that is used again for other events is found out.
    public func batch(idempotencyKey: Span<UInt8>, body: Span<UInt8>) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(0xC)
        hash.combine(idempotencyKey, 0..<idempotencyKey.count)
        hash.combine(body, 0..<body.count)
        return hash.finalized()
    }

    @inline(__always)
    private func scheduleHash(of event: borrowing Event, in bytes: Span<UInt8>) -> KeyedHash {
        var hash = KeyedHash(self)
        let installation = event.installation
        hash.combine(installation?.high ?? 0)
        hash.combine(installation?.low ?? 0)
        if !event.scheduleId.isEmpty {
            hash.combine(bytes, event.scheduleId)
        } else if let due = event.scheduledFor {
            hash.combine(UInt64(bitPattern: due.microseconds))
        }
        return hash
    }
}
