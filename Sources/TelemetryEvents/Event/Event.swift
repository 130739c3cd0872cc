// SPDX-License-Identifier: Apache-2.0

/// An event, decoded from its compact record.
///
/// Numbers and times are stored inline; texts are ranges into the bytes that the event was read from, so an event holds
/// no reference and allocates nothing. Resolve texts in the bytes of the `EventBatch`.
///
/// The layout is optimised for frequent filling, copying and reading: one mask marks the present fields, and texts are
/// 32-bit ranges, so a text beyond the first 4 GiB reads as absent.
public struct Event: Sendable {
    /// A range in the event's bytes; empty if the event has no such text.
    public typealias Text = Range<Int>

    /// What happened.
    public var kind: EventKind
    // These fill the gap between the kind and the timestamp; see `EventConditions` and `minutes`.
    @usableFromInline var callConditions: UInt8 = 0
    @usableFromInline var runConditions: UInt16 = 0
    @usableFromInline var minuteCount: Int32 = 0
    /// When it happened, by the device's clock.
    public var timestamp: Timestamp

    @usableFromInline var presence = EventPresence()
    @usableFromInline var values = EventValues()
    @usableFromInline var texts = EventTextRanges()

    /// Creates an event with its two mandatory fields.
    @inlinable
    public init(kind: EventKind, timestamp: Timestamp) {
        self.kind = kind
        self.timestamp = timestamp
    }
}

extension Event {
    /// The notification's due time.
    @inlinable
    public var scheduledFor: Timestamp? {
        get { presence.contains(.scheduledFor) ? values.scheduledFor : nil }
        set {
            values.scheduledFor = newValue ?? Timestamp(microseconds: 0)
            presence.set(.scheduledFor, newValue != nil)
        }
    }

    /// The earliest time at which the operating system may run the task.
    @inlinable
    public var earliestBeginDate: Timestamp? {
        get { presence.contains(.earliestBeginDate) ? values.earliestBeginDate : nil }
        set {
            values.earliestBeginDate = newValue ?? Timestamp(microseconds: 0)
            presence.set(.earliestBeginDate, newValue != nil)
        }
    }

    /// The duration of the fetch, in microseconds.
    @inlinable
    public var duration: Int64? {
        get { presence.contains(.duration) ? values.duration : nil }
        set {
            values.duration = newValue ?? 0
            presence.set(.duration, newValue != nil)
        }
    }

    /// How long fetched content stays valid, in seconds.
    @inlinable
    public var ttl: Int64? {
        get { presence.contains(.ttl) ? values.ttl : nil }
        set {
            values.ttl = newValue ?? 0
            presence.set(.ttl, newValue != nil)
        }
    }

    /// The HTTP status of the fetch.
    @inlinable
    public var status: Int64? {
        get { presence.contains(.status) ? values.status : nil }
        set {
            values.status = newValue ?? 0
            presence.set(.status, newValue != nil)
        }
    }

    /// The size of the fetched content, in bytes.
    @inlinable
    public var byteCount: Int64? {
        get { presence.contains(.byteCount) ? values.byteCount : nil }
        set {
            values.byteCount = newValue ?? 0
            presence.set(.byteCount, newValue != nil)
        }
    }

    /// The number of fetched items.
    @inlinable
    public var itemCount: Int64? {
        get { presence.contains(.itemCount) ? values.itemCount : nil }
        set {
            values.itemCount = newValue ?? 0
            presence.set(.itemCount, newValue != nil)
        }
    }

    /// The age of the cached content at delivery, in microseconds.
    @inlinable
    public var age: Int64? {
        get { presence.contains(.age) ? values.age : nil }
        set {
            values.age = newValue ?? 0
            presence.set(.age, newValue != nil)
        }
    }

    /// The failure reason, given or derived from `error` and `status`.
    @inlinable
    public var reason: FailureReason? {
        get { presence.contains(.reason) ? values.reason : nil }
        set {
            values.reason = newValue ?? .other
            presence.set(.reason, newValue != nil)
        }
    }

    /// The pseudonym of the installation id.
    @inlinable
    public var installation: Pseudonym? {
        get { presence.contains(.installation) ? values.installation : nil }
        set {
            values.installation = newValue ?? Pseudonym(high: 0, low: 0)
            presence.set(.installation, newValue != nil)
        }
    }

    /// Whether the client will retry within this attempt.
    @inlinable
    public var willRetry: Bool? {
        get { presence.contains(.willRetry) ? presence.contains(.willRetryTrue) : nil }
        set {
            presence.set(.willRetry, newValue != nil)
            presence.set(.willRetryTrue, newValue == true)
        }
    }

    /// In a summary: whether the content was fetched.
    @inlinable
    public var fetched: Bool? {
        get { presence.contains(.fetched) ? presence.contains(.fetchedTrue) : nil }
        set {
            presence.set(.fetched, newValue != nil)
            presence.set(.fetchedTrue, newValue == true)
        }
    }

    /// In a summary: whether the cached content was used.
    @inlinable
    public var usedCached: Bool? {
        get { presence.contains(.usedCached) ? presence.contains(.usedCachedTrue) : nil }
        set {
            presence.set(.usedCached, newValue != nil)
            presence.set(.usedCachedTrue, newValue == true)
        }
    }

    /// The receiver's clock minus the sender's clock in microseconds, if the sender sent its time.
    @inlinable
    public var clockSkew: Int64? {
        get { presence.contains(.clockSkew) ? values.clockSkew : nil }
        set {
            values.clockSkew = newValue ?? 0
            presence.set(.clockSkew, newValue != nil)
        }
    }

    /// Whether the timestamp only orders the event among others, because its source has no times.
    @inlinable
    public var isTimeAssumed: Bool {
        get { presence.contains(.timeAssumed) }
        set {
            presence.set(.timeAssumed, newValue)
        }
    }
}

extension Event {
    /// The schedule id.
    @inlinable
    public var scheduleId: Text {
        get { texts.scheduleId.range }
        set {
            texts.scheduleId = TextRange(newValue)
            presence.set(.scheduleId, !texts.scheduleId.isEmpty)
        }
    }

    /// The client's own idempotency key.
    @inlinable
    public var eventId: Text {
        get { texts.eventId.range }
        set {
            texts.eventId = TextRange(newValue)
            presence.set(.eventId, !texts.eventId.isEmpty)
        }
    }

    /// The error's domain or code.
    @inlinable
    public var error: Text {
        get { texts.error.range }
        set {
            texts.error = TextRange(newValue)
            presence.set(.error, !texts.error.isEmpty)
        }
    }

    /// The hash of the cached content.
    @inlinable
    public var contentHash: Text {
        get { texts.contentHash.range }
        set {
            texts.contentHash = TextRange(newValue)
            presence.set(.contentHash, !texts.contentHash.isEmpty)
        }
    }

    /// The hash of notification time, lead and schedule id.
    @inlinable
    public var scheduleHash: Text {
        get { texts.scheduleHash.range }
        set {
            texts.scheduleHash = TextRange(newValue)
            presence.set(.scheduleHash, !texts.scheduleHash.isEmpty)
        }
    }

    /// The client's platform.
    @inlinable
    public var platform: Text {
        get { texts.platform.range }
        set {
            texts.platform = TextRange(newValue)
            presence.set(.platform, !texts.platform.isEmpty)
        }
    }

    /// The app's version.
    @inlinable
    public var appVersion: Text {
        get { texts.appVersion.range }
        set {
            texts.appVersion = TextRange(newValue)
            presence.set(.appVersion, !texts.appVersion.isEmpty)
        }
    }

    /// The operating system's version.
    @inlinable
    public var osVersion: Text {
        get { texts.osVersion.range }
        set {
            texts.osVersion = TextRange(newValue)
            presence.set(.osVersion, !texts.osVersion.isEmpty)
        }
    }

    /// The device's model.
    @inlinable
    public var deviceModel: Text {
        get { texts.deviceModel.range }
        set {
            texts.deviceModel = TextRange(newValue)
            presence.set(.deviceModel, !texts.deviceModel.isEmpty)
        }
    }

    /// What the client tells of its own state, encoded; see `forEachClientCounter(in:_:)`, `rollingWindow(in:)` and
    /// `forEachPlannedSchedule(in:_:)`.
    @inlinable
    public var clientCounters: Text {
        get { texts.clientCounters.range }
        set {
            texts.clientCounters = TextRange(newValue)
            presence.set(.clientCounters, !texts.clientCounters.isEmpty)
        }
    }

    /// The keyed hashes of the ids that pseudonyms replaced; see `IdentityKey`.
    @inlinable
    var originals: Text {
        get { texts.originals.range }
        set {
            texts.originals = TextRange(newValue)
            presence.set(.originals, !texts.originals.isEmpty)
        }
    }
}
