// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// The schedule's id.
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

    /// The client's cumulative counters, encoded; see `forEachClientCounter(in:_:)`.
    @inlinable
    public var clientCounters: Text {
        get { texts.clientCounters.range }
        set {
            texts.clientCounters = TextRange(newValue)
            presence.set(.clientCounters, !texts.clientCounters.isEmpty)
        }
    }
}
