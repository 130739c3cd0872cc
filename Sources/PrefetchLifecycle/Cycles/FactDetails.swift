// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The earliest begin of a submitted task in 16 bits: its second in a period of 2^14, four and a half hours, and how it
/// lies to the time of the submission. Raw value 0 is an unknown one.
///
/// A begin near its submission is known to the second. Of a later one the period is known by what else the cycle tells.
struct SubmittedBegin: Sendable {
    private static let period: Int64 = 1 << 14
    private static let near: UInt16 = 1 << 14
    /// Near, and in a smaller fraction of its second than the submission.
    private static let nearBorrowing: UInt16 = 2 << 14
    private static let far: UInt16 = 3 << 14

    let rawValue: UInt16

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// - Parameter isTimeAssumed: whether the time of the submission only orders it, so that the begin may lie long before.
    init(_ begin: Timestamp, at time: Timestamp, isTimeAssumed: Bool = false) {
        let submitted = time.wholeSeconds
        var second = begin.wholeSeconds
        var form = Self.far
        let isPast = second - submitted <= -Self.period / 2
        if second - submitted < Self.period / 2, !(isTimeAssumed && isPast) {
            // What begins hours before its submission is only known as that.
            second = max(second, submitted - Self.period / 2 + 1)
            let isSmaller = begin.microseconds - second * 1_000_000 < time.microseconds - submitted * 1_000_000
            form = isSmaller ? Self.nearBorrowing : Self.near
        }
        rawValue = form | UInt16(truncatingIfNeeded: second & (Self.period - 1))
    }

    var isKnown: Bool { rawValue != 0 }

    /// What is the same of two submissions with the same earliest begin.
    var key: UInt16 { rawValue & (Self.near - 1) }

    private var isFar: Bool { rawValue >= Self.far }

    /// The second of this one that is nearest to another second.
    private func second(near other: Int64) -> Int64 {
        let distance = (Int64(key) - other) & (Self.period - 1)
        return other + (distance < Self.period / 2 ? distance : distance - Self.period)
    }

    /// The whole seconds from the submission to the begin; nil where there are hours between them, or none is known.
    func lead(at time: Timestamp) -> Int64? {
        guard isKnown, !isFar else { return nil }
        return second(near: time.wholeSeconds) - time.wholeSeconds - (rawValue >= Self.nearBorrowing ? 1 : 0)
    }

    /// Whether it begins so long before its submission that no more is known of it.
    func isCut(at time: Timestamp) -> Bool {
        isKnown && !isFar && second(near: time.wholeSeconds) == time.wholeSeconds - Self.period / 2 + 1
    }

    /// The begin of a submission, to the second.
    ///
    /// - Parameters:
    ///   - time: when it was submitted.
    ///   - window: the earliest begin of all submissions of the cycle, which is known exactly.
    ///   - due: the notification time of the cycle.
    func begin(at time: Timestamp, window: Timestamp?, due: Timestamp?) -> Timestamp? {
        guard isKnown else { return nil }
        if let window, UInt16(truncatingIfNeeded: window.wholeSeconds & (Self.period - 1)) == key,
            isFar || second(near: time.wholeSeconds) == window.wholeSeconds
        {
            return window
        }
        guard let reference = isFar ? due ?? window : time else { return nil }
        return Timestamp(seconds: second(near: reference.wholeSeconds))
    }
}

extension Timestamp {
    /// The seconds since 1970, rounded down.
    var wholeSeconds: Int64 { microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0) }
}

/// A `ttl` or an age in 15 bits: seconds up to 3 hours and 24 minutes, minutes up to 11 days, then hours; rounded up. 0
/// stands for none.
struct CodedTTL: Sendable {
    private static let firstMinute: Int64 = 12_289
    private static let firstHour: Int64 = 28_673
    private static let last: Int64 = 32_767

    let rawValue: UInt16

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    init(_ seconds: Int64) {
        let minutes = seconds / 60 + (seconds % 60 > 0 ? 1 : 0)
        let hours = minutes / 60 + (minutes % 60 > 0 ? 1 : 0)
        let code =
            if seconds < Self.firstMinute - 1 {
                max(seconds, 0) + 1
            } else if minutes < Self.firstHour - Self.firstMinute {
                Self.firstMinute + minutes
            } else {
                min(Self.firstHour + hours, Self.last)
            }
        rawValue = UInt16(truncatingIfNeeded: code)
    }

    var seconds: Int64? {
        let code = Int64(rawValue)
        switch code {
        case 0: return nil
        case ..<Self.firstMinute: return code - 1
        case ..<Self.firstHour: return (code - Self.firstMinute) * 60
        default: return (code - Self.firstHour) * 3_600
        }
    }
}
