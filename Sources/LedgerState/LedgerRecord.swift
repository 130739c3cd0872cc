// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import RefreshLifecycle
package import TelemetryEvents

/// A numbered record of the ledger: a received event, or the verdict on a cycle or a run that broke a rule.
package enum LedgerRecord {
    case event(Event)
    case cycle(CycleVerdict)
    case run(RunVerdict)
}

/// A row of the ledger whose records cannot be read.
package enum LedgerRecordError: Error {
    case event(EventRecordError)
    case verdict(VerdictRecordError)
}

extension LedgerRecordError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .event(let error): error.description
        case .verdict(let error): error.description
        }
    }
}

/// Reads the records of a row in order: the verdicts of a tick, else events.
package struct LedgerRecordCursor {
    private enum Cursor {
        case events(EventCursor)
        case verdicts(VerdictCursor)
    }

    private var cursor: Cursor

    /// - Parameter origin: the origin of the row.
    package init(origin: UInt16) {
        cursor = origin == EventOrigin.tick.rawValue ? .verdicts(VerdictCursor()) : .events(EventCursor())
    }

    /// The next record; nil at the end.
    ///
    /// - Parameter bytes: the records of the row, the same in every call.
    package mutating func next(in bytes: Span<UInt8>) throws(LedgerRecordError) -> LedgerRecord? {
        switch cursor {
        case .events(var events):
            do throws(EventRecordError) {
                let event = try events.next(in: bytes)
                cursor = .events(events)
                return event.map { .event($0) }
            } catch {
                throw .event(error)
            }
        case .verdicts(var verdicts):
            do throws(VerdictRecordError) {
                let verdict = try verdicts.next(in: bytes)
                cursor = .verdicts(verdicts)
                return verdict
            } catch {
                throw .verdict(error)
            }
        }
    }
}

/// The encoding of verdicts in a row of the ledger. Numbers are little-endian.
///
/// All of them begin and end alike:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | what it is about: a cycle (1) or a run (2) |
/// | 2 | how many bytes of the record follow |
/// | 8 | when it was closed, in microseconds since 1970 |
/// | | the fields of a cycle or a run |
/// | 1 | how many violations follow |
/// | 1, 1, n | of each the rule by its raw value, the length of its sentence, and the sentence in UTF-8 |
///
/// The fields of a cycle:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | presence: bit 0 the notification time, bit 1 the schedule, bit 2 the failure reason; bit 3 says that the clock was warped |
/// | 8 | the notification time, in microseconds since 1970 |
/// | 8 | the hash of the schedule |
/// | 1 | outcome, by its raw value |
/// | 1 | failure reason, by its raw value |
///
/// The fields of a run:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | presence: bit 0 the end, bit 1 the installation, bit 2 the reason of the skip |
/// | 8 | its begin, in microseconds since 1970 |
/// | 8 | its end, in microseconds since 1970 |
/// | 8 | the hash of the installation |
/// | 1 | outcome, by its raw value |
/// | 1 | reason of the skip, by its raw value |
enum VerdictRecord {
    /// What a verdict is about.
    enum Subject: UInt8 {
        case cycle = 1
        case run = 2
    }

    /// The largest record in bytes: every rule, each with the longest sentence.
    static let maximumBytes = 31 + ViolationKind.allCases.count * (2 + maximumDetailBytes)
    /// The longest sentence in bytes; the fold's own are shorter.
    static let maximumDetailBytes = 255

    struct Presence: OptionSet {
        var rawValue: UInt8
        static let notificationTime = Presence(rawValue: 1 << 0)
        static let schedule = Presence(rawValue: 1 << 1)
        static let failureReason = Presence(rawValue: 1 << 2)
        static let isTimeWarped = Presence(rawValue: 1 << 3)
        static let known: Presence = [.notificationTime, .schedule, .failureReason, .isTimeWarped]
    }

    struct RunPresence: OptionSet {
        var rawValue: UInt8
        static let end = RunPresence(rawValue: 1 << 0)
        static let installation = RunPresence(rawValue: 1 << 1)
        static let skipReason = RunPresence(rawValue: 1 << 2)
        static let known: RunPresence = [.end, .installation, .skipReason]
    }

    static func append(_ verdict: CycleVerdict, to output: inout [UInt8]) {
        append(.cycle, closedAt: verdict.closedAt, to: &output) { output in
            append(fieldsOf: verdict, to: &output)
            append(verdict.violations.map { ($0.kind.rawValue, $0.detail) }, to: &output)
        }
    }

    static func append(_ verdict: RunVerdict, to output: inout [UInt8]) {
        append(.run, closedAt: verdict.closedAt, to: &output) { output in
            append(fieldsOf: verdict, to: &output)
            append(verdict.violations.map { ($0.kind.rawValue, $0.detail) }, to: &output)
        }
    }

    private static func append(
        _ subject: Subject,
        closedAt: Timestamp,
        to output: inout [UInt8],
        _ content: (inout [UInt8]) -> Void
    ) {
        let start = output.count
        output += [subject.rawValue, 0, 0]
        append(closedAt, to: &output)
        content(&output)
        let length = output.count - start - 3
        output[start + 1] = UInt8(truncatingIfNeeded: length)
        output[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
    }

    private static func append(fieldsOf verdict: RunVerdict, to output: inout [UInt8]) {
        let presence = output.count
        var present: RunPresence = []
        output.append(0)
        append(verdict.begin, to: &output)
        if let end = verdict.end {
            present.insert(.end)
            append(end, to: &output)
        }
        if let installation = verdict.installation {
            present.insert(.installation)
            append(installation, to: &output)
        }
        output.append(verdict.outcome.rawValue)
        if let reason = verdict.skipReason {
            present.insert(.skipReason)
            output.append(reason.rawValue)
        }
        output[presence] = present.rawValue
    }

    private static func append(fieldsOf verdict: CycleVerdict, to output: inout [UInt8]) {
        let presence = output.count
        var present: Presence = []
        output.append(0)
        if let due = verdict.notificationTime {
            present.insert(.notificationTime)
            append(due, to: &output)
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
        if verdict.isTimeWarped { present.insert(.isTimeWarped) }
        output[presence] = present.rawValue
    }

    private static func append(_ violations: [(rule: UInt8, detail: String)], to output: inout [UInt8]) {
        let violations = violations.prefix(ViolationKind.allCases.count)
        output.append(UInt8(violations.count))
        for violation in violations {
            let detail = violation.detail.utf8Prefix(maximumDetailBytes)
            output += [violation.rule, UInt8(detail.count)]
            output += detail
        }
    }

    private static func append(_ time: Timestamp, to output: inout [UInt8]) {
        append(UInt64(bitPattern: time.microseconds), to: &output)
    }

    private static func append(_ word: UInt64, to output: inout [UInt8]) {
        for shift in stride(from: 0, to: 64, by: 8) { output.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }
}

extension String {
    /// The longest prefix of whole characters within `limit` bytes of UTF-8.
    fileprivate func utf8Prefix(_ limit: Int) -> [UInt8] {
        let bytes = Array(utf8)
        guard bytes.count > limit else { return bytes }
        var end = limit
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(bytes[..<end])
    }
}

/// An invalid record of a verdict: damage, or a newer format.
package struct VerdictRecordError: Error, Equatable, CustomStringConvertible {
    enum Problem: Equatable {
        case cutShort
        case unknownSubject(UInt8)
        case unknownFields
        case timeOutOfRange
        case unknownOutcome(UInt8)
        case unknownReason(UInt8)
        case unknownRule(UInt8)
        case brokenText
        case wrongLength
    }

    /// The offset of the record in the row.
    let offset: Int
    let problem: Problem

    package var description: String {
        "expected the record of a verdict at byte \(offset) of the row, found \(found); "
            + "the ledger is damaged or was written by a newer version"
    }

    private var found: String {
        switch problem {
        case .cutShort: "one cut short"
        case .unknownSubject(let code): "one about the unknown subject \(code)"
        case .unknownFields: "fields of a newer format"
        case .timeOutOfRange: "a time out of range"
        case .unknownOutcome(let code): "the unknown outcome \(code)"
        case .unknownReason(let code): "the unknown failure reason \(code)"
        case .unknownRule(let code): "the unknown rule \(code)"
        case .brokenText: "a sentence that is no UTF-8"
        case .wrongLength: "another length than it tells"
        }
    }
}

/// Reads the verdicts of a row in order. Total: any bytes give verdicts, the end or an error.
struct VerdictCursor {
    /// The offset of the next record.
    private(set) var offset = 0

    /// The next verdict; nil at the end. An error does not advance the cursor.
    mutating func next(in bytes: Span<UInt8>) throws(VerdictRecordError) -> LedgerRecord? {
        guard offset < bytes.count else { return nil }
        var reader = VerdictReader(start: offset)
        let code = try reader.byte(bytes)
        guard let subject = VerdictRecord.Subject(rawValue: code) else { throw reader.error(.unknownSubject(code)) }
        let length = Int(try reader.integer(bytes, size: 2))
        let end = reader.position + length
        guard end <= bytes.count else { throw reader.error(.cutShort) }
        let verdict: LedgerRecord =
            switch subject {
            case .cycle: .cycle(try Self.cycle(&reader, bytes))
            case .run: .run(try Self.run(&reader, bytes))
            }
        guard reader.position == end else { throw reader.error(.wrongLength) }
        offset = end
        return verdict
    }

    private static func cycle(
        _ reader: inout VerdictReader,
        _ bytes: Span<UInt8>
    ) throws(VerdictRecordError) -> CycleVerdict {
        let closedAt = try reader.time(bytes)
        let present = VerdictRecord.Presence(rawValue: try reader.byte(bytes))
        guard present.isSubset(of: .known) else { throw reader.error(.unknownFields) }
        var due: Timestamp?
        if present.contains(.notificationTime) { due = try reader.time(bytes) }
        var schedule: UInt64?
        if present.contains(.schedule) { schedule = try reader.integer(bytes, size: 8) }
        let outcomeCode = try reader.byte(bytes)
        guard let outcome = CycleOutcome(rawValue: outcomeCode) else {
            throw reader.error(.unknownOutcome(outcomeCode))
        }
        var verdict = CycleVerdict(
            closedAt: closedAt,
            notificationTime: due,
            schedule: schedule,
            outcome: outcome,
            violations: [],
            isTimeWarped: present.contains(.isTimeWarped)
        )
        if present.contains(.failureReason) {
            let code = try reader.byte(bytes)
            guard let reason = FailureReason(rawValue: code) else { throw reader.error(.unknownReason(code)) }
            verdict.failureReason = reason
        }
        for _ in 0..<(try reader.byte(bytes)) {
            let code = try reader.byte(bytes)
            guard let kind = ViolationKind(rawValue: code) else { throw reader.error(.unknownRule(code)) }
            verdict.violations.append(CycleViolation(kind: kind, detail: try reader.text(bytes)))
        }
        return verdict
    }

    private static func run(_ reader: inout VerdictReader, _ bytes: Span<UInt8>) throws(VerdictRecordError)
        -> RunVerdict
    {
        let closedAt = try reader.time(bytes)
        let present = VerdictRecord.RunPresence(rawValue: try reader.byte(bytes))
        guard present.isSubset(of: .known) else { throw reader.error(.unknownFields) }
        let begin = try reader.time(bytes)
        let end = present.contains(.end) ? try reader.time(bytes) : nil
        let installation: UInt64? = present.contains(.installation) ? try reader.integer(bytes, size: 8) : nil
        let outcomeCode = try reader.byte(bytes)
        guard let outcome = RunOutcome(rawValue: outcomeCode) else { throw reader.error(.unknownOutcome(outcomeCode)) }
        var verdict = RunVerdict(
            closedAt: closedAt,
            begin: begin,
            end: end,
            installation: installation,
            outcome: outcome,
            violations: []
        )
        if present.contains(.skipReason) {
            let code = try reader.byte(bytes)
            guard let reason = RefreshSkipReason(rawValue: code) else { throw reader.error(.unknownReason(code)) }
            verdict.skipReason = reason
        }
        for _ in 0..<(try reader.byte(bytes)) {
            let code = try reader.byte(bytes)
            guard let kind = RefreshViolationKind(rawValue: code) else { throw reader.error(.unknownRule(code)) }
            verdict.violations.append(RefreshViolation(kind: kind, detail: try reader.text(bytes)))
        }
        return verdict
    }
}

/// Reads the fields of a record with bounds checks.
private struct VerdictReader {
    private let start: Int
    private(set) var position: Int

    init(start: Int) {
        self.start = start
        position = start
    }

    func error(_ problem: VerdictRecordError.Problem) -> VerdictRecordError {
        VerdictRecordError(offset: start, problem: problem)
    }

    mutating func byte(_ bytes: Span<UInt8>) throws(VerdictRecordError) -> UInt8 {
        UInt8(truncatingIfNeeded: try integer(bytes, size: 1))
    }

    mutating func integer(_ bytes: Span<UInt8>, size: Int) throws(VerdictRecordError) -> UInt64 {
        guard position + size <= bytes.count else { throw error(.cutShort) }
        var word: UInt64 = 0
        for index in (0..<size).reversed() { word = word << 8 | UInt64(bytes[position + index]) }
        position += size
        return word
    }

    /// A time of the years 1970 to 9999, the range of RFC 3339.
    mutating func time(_ bytes: Span<UInt8>) throws(VerdictRecordError) -> Timestamp {
        let microseconds = Int64(bitPattern: try integer(bytes, size: 8))
        guard 0..<253_402_300_800_000_000 ~= microseconds else { throw error(.timeOutOfRange) }
        return Timestamp(microseconds: microseconds)
    }

    mutating func text(_ bytes: Span<UInt8>) throws(VerdictRecordError) -> String {
        let count = Int(try byte(bytes))
        guard position + count <= bytes.count else { throw error(.cutShort) }
        let text = (position..<position + count).map { bytes[$0] }
        guard let string = String(validating: text, as: UTF8.self) else { throw error(.brokenText) }
        position += count
        return string
    }
}
