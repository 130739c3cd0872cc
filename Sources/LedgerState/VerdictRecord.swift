// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// The form in which verdicts stand in a row of the ledger, one behind the other. Numbers are little-endian.
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | version, 1 |
/// | 2 | how many bytes of the record follow |
/// | 8 | when the cycle was closed, in microseconds since 1970 |
/// | 1 | what is there: bit 0 the notification time, bit 1 the schedule, bit 2 the failure reason |
/// | 8 | the notification time, in microseconds since 1970 |
/// | 8 | the hash of the schedule |
/// | 1 | outcome, by its raw value |
/// | 1 | failure reason, by its raw value |
/// | 1 | how many violations follow |
/// | 1, 1, n | of each the rule by its raw value, the length of its sentence, and the sentence in UTF-8 |
enum VerdictRecord {
    static let version: UInt8 = 1
    /// The largest record that is written: 17 rules, each with the longest sentence.
    static let maximumBytes = 31 + ViolationKind.allCases.count * (2 + maximumDetailBytes)
    /// The longest sentence that is kept; the fold's own are shorter.
    static let maximumDetailBytes = 255

    struct Presence: OptionSet {
        var rawValue: UInt8
        static let notificationTime = Presence(rawValue: 1 << 0)
        static let schedule = Presence(rawValue: 1 << 1)
        static let failureReason = Presence(rawValue: 1 << 2)
        static let known: Presence = [.notificationTime, .schedule, .failureReason]
    }

    static func append(_ verdict: CycleVerdict, to output: inout [UInt8]) {
        let start = output.count
        output += [version, 0, 0]
        append(UInt64(bitPattern: verdict.closedAt.microseconds), to: &output)
        let presence = output.count
        var present: Presence = []
        output.append(0)
        if let due = verdict.notificationTime {
            present.insert(.notificationTime)
            append(UInt64(bitPattern: due.microseconds), to: &output)
        }
        if let schedule = verdict.schedule {
            present.insert(.schedule)
            append(schedule, to: &output)
        }
        output.append(verdict.outcome.rawValue)
        if let reason = verdict.failureReason {
            present.insert(.failureReason)
            output.append(reason.rawValue)
        }
        output[presence] = present.rawValue
        let violations = verdict.violations.prefix(ViolationKind.allCases.count)
        output.append(UInt8(violations.count))
        for violation in violations {
            let detail = violation.detail.utf8Prefix(maximumDetailBytes)
            output += [violation.kind.rawValue, UInt8(detail.count)]
            output += detail
        }
        let length = output.count - start - 3
        output[start + 1] = UInt8(truncatingIfNeeded: length)
        output[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
    }

    private static func append(_ word: UInt64, to output: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { output.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }
}

extension String {
    /// As much of its UTF-8 as the limit has room for, without a part of a character.
    fileprivate func utf8Prefix(_ limit: Int) -> [UInt8] {
        let bytes = Array(utf8)
        guard bytes.count > limit else { return bytes }
        var end = limit
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(bytes[..<end])
    }
}
