// SPDX-License-Identifier: Apache-2.0

/// One event, decoded from its compact record.
///
/// Numbers and times are values; texts are ranges into the bytes that the event was read from, so an event holds no
/// reference and costs no allocation. Read texts through the bytes of the `EventBatch`.
public struct Event: Sendable {
    /// A range of the bytes that hold the event's texts; empty where the event has none.
    public typealias Text = Range<Int>

    /// What happened.
    public var kind: EventKind
    /// When it happened, by the device's clock.
    public var timestamp: Timestamp
    /// When the notification is due.
    public var scheduledFor: Timestamp?
    /// The earliest time at which the operating system may run the task.
    public var earliestBeginDate: Timestamp?
    /// How long the fetch took, in microseconds.
    public var duration: Int64?
    /// How long fetched content may be used, in seconds.
    public var ttl: Int64?
    /// The HTTP status of the fetch.
    public var status: Int64?
    /// The size of what was fetched.
    public var byteCount: Int64?
    /// How many items were fetched.
    public var itemCount: Int64?
    /// The age of cached content at delivery, in microseconds.
    public var age: Int64?
    /// Why it failed, given or derived from `error` and `status`.
    public var reason: FailureReason?
    /// The keyed hash of the installation's id.
    public var installation: Pseudonym?
    /// Whether the client will try again in this attempt.
    public var willRetry: Bool?
    /// In a summary: whether the content was fetched.
    public var fetched: Bool?
    /// In a summary: whether the cached content was used.
    public var usedCached: Bool?
    /// Receiver's clock minus sender's clock in microseconds, where the sender told its time.
    public var clockSkew: Int64?
    /// Whether the time only says where the event stands among others, because its source tells no times.
    public var isTimeAssumed = false

    /// The schedule's id.
    public var scheduleId: Text = 0..<0
    /// The client's own idempotency key.
    public var eventId: Text = 0..<0
    /// The error's domain or code.
    public var error: Text = 0..<0
    /// The hash of the cached content.
    public var contentHash: Text = 0..<0
    /// The hash of notification time, lead and schedule id.
    public var scheduleHash: Text = 0..<0
    /// The client's platform.
    public var platform: Text = 0..<0
    /// The app's version.
    public var appVersion: Text = 0..<0
    /// The operating system's version.
    public var osVersion: Text = 0..<0
    /// The device's model.
    public var deviceModel: Text = 0..<0
    /// The client's cumulative counters, encoded; see `forEachClientCounter(in:_:)`.
    public var clientCounters: Text = 0..<0

    /// Makes an event with the two things that every event has.
    public init(kind: EventKind, timestamp: Timestamp) {
        self.kind = kind
        self.timestamp = timestamp
    }
}
