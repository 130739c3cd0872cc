// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// Bytes that should be a record of a verdict and are not: damage, or a newer format.
package struct VerdictRecordError: Error, Equatable, CustomStringConvertible {
    enum Problem: Equatable {
        case cutShort
        case newerVersion(UInt8)
        case unknownFields
        case timeOutOfRange
        case unknownOutcome(UInt8)
        case unknownReason(UInt8)
        case unknownRule(UInt8)
        case brokenText
        case wrongLength
    }

    /// Where in the row the record begins.
    let offset: Int
    let problem: Problem

    package var description: String {
        "expected the record of a verdict at byte \(offset) of the row, found \(found); "
            + "the ledger is damaged or was written by a newer version"
    }

    private var found: String {
        switch problem {
        case .cutShort: "one cut short"
        case .newerVersion(let version): "version \(version)"
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

/// Reads the verdicts of a row one after the other. Total: any bytes give verdicts, an end or an error.
struct VerdictCursor {
    /// Where the next record begins.
    private(set) var offset = 0

    /// The next verdict; nil at the end. After an error the cursor stays where it is.
    mutating func next(in bytes: Span<UInt8>) throws(VerdictRecordError) -> CycleVerdict? {
        guard offset < bytes.count else { return nil }
        var reader = VerdictReader(start: offset)
        let version = try reader.byte(bytes)
        guard version == VerdictRecord.version else { throw reader.error(.newerVersion(version)) }
        let length = Int(try reader.integer(bytes, size: 2))
        let end = reader.position + length
        guard end <= bytes.count else { throw reader.error(.cutShort) }
        let verdict = try Self.verdict(&reader, bytes)
        guard reader.position == end else { throw reader.error(.wrongLength) }
        offset = end
        return verdict
    }

    private static func verdict(
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
            violations: []
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
}

/// Reads the parts of a record; every read is checked against the end.
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

    /// A time of the years 1970 to 9999, which are the ones that RFC 3339 can write.
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
