// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What an event says about its cycle, in eight bytes: facts compare in the order in which they happened.
///
/// | bits | what |
/// | --- | --- |
/// | 63-32 | milliseconds since the cycle's first known time, plus 2^31 |
/// | 31-24 | stage, so that simultaneous facts stand in the order of the lifecycle |
/// | 7-0 | detail of a failure, a completion or a summary |
struct Fact: Comparable, Sendable {
    enum Stage: UInt8 {
        case scheduled = 1
        case executed = 2
        case success = 3
        case failure = 4
        case completed = 5
        case used = 6
        case summary = 7
    }

    struct Detail: OptionSet {
        var rawValue: UInt8
        static let reasonMask = Detail(rawValue: 0b11)
        static let reasonKnown = Detail(rawValue: 1 << 2)
        static let willRetry = Detail(rawValue: 1 << 3)
        static let unsuccessful = Detail(rawValue: 1 << 4)
        static let fetched = Detail(rawValue: 1 << 5)
        static let usedCached = Detail(rawValue: 1 << 6)
    }

    var rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(_ stage: Stage, _ detail: Detail, at time: Timestamp, base: Timestamp) {
        let milliseconds = (time.microseconds - base.microseconds) / 1_000
        let clamped = Swift.min(Swift.max(milliseconds, Int64(Int32.min)), Int64(Int32.max))
        let biased = UInt64(UInt32(bitPattern: Int32(clamped)) ^ 0x8000_0000)
        rawValue = biased << 32 | UInt64(stage.rawValue) << 24 | UInt64(detail.rawValue)
    }

    /// Whether a time is near enough to a cycle's base to be told from others, which is 24 days to either side.
    static func canTell(_ time: Timestamp, from base: Timestamp) -> Bool {
        abs(time.microseconds - base.microseconds) / 1_000 < Int64(Int32.max)
    }

    var stage: Stage? { Stage(rawValue: UInt8(truncatingIfNeeded: rawValue >> 24)) }
    var detail: Detail { Detail(rawValue: UInt8(truncatingIfNeeded: rawValue)) }

    static func < (left: Fact, right: Fact) -> Bool { left.rawValue < right.rawValue }
}

extension Fact {
    /// What an event says, or nil when it says nothing that counts a stage.
    init?(_ event: Event, base: Timestamp) {
        switch event.kind {
        case .prefetchScheduled: self.init(.scheduled, [], at: event.timestamp, base: base)
        case .prefetchExecuted: self.init(.executed, [], at: event.timestamp, base: base)
        case .prefetchSuccess: self.init(.success, [], at: event.timestamp, base: base)
        case .prefetchFailure, .prefetchExpired:
            var detail: Detail = []
            if let reason = event.reason { detail = [.reasonKnown, Detail(rawValue: reason.rawValue)] }
            if event.willRetry == true { detail.insert(.willRetry) }
            self.init(.failure, detail, at: event.timestamp, base: base)
        case .prefetchCompleted:
            self.init(.completed, event.fetched == false ? .unsuccessful : [], at: event.timestamp, base: base)
        case .prefetchUsedForNotification: self.init(.used, [], at: event.timestamp, base: base)
        case .prefetchCycleComplete:
            var detail: Detail = []
            if event.fetched == true { detail.insert(.fetched) }
            if event.usedCached == true { detail.insert(.usedCached) }
            self.init(.summary, detail, at: event.timestamp, base: base)
        default:
            return nil
        }
    }
}
