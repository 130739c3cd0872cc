// SPDX-License-Identifier: Apache-2.0

package import LifecycleState
package import PrefetchLifecycle
package import TelemetryEvents

/// A closed cycle as the index has it.
package struct IndexedCycle: Sendable {
    /// Its number: cycles are numbered as they close, from 1.
    package var number: UInt64
    /// When it was closed, by the ledger's clock.
    package var closedAt: Timestamp
    /// Its verdict.
    package var verdict: ClosedCycle
    /// What its events named; nil where that is not remembered.
    package var name: CycleName?
    /// The platform and the version that its events named last.
    package var group: EventGroup
}

/// What the events of a cycle name: a device and a schedule.
package struct CycleName: Hashable, Sendable {
    /// The pseudonym of the installation; nil for events that name none.
    package var installation: Pseudonym?
    /// The id of the schedule as the ledger has it; empty where events name none.
    package var scheduleId: [UInt8]
}

/// The encoding of closed cycles in a segment. Numbers are little-endian.
///
/// | bytes | what |
/// | --- | --- |
/// | 2 | the length of the record |
/// | 1 | outcome, by its raw value |
/// | 1 | failure reason, by its raw value; 255 for none |
/// | 1 | the place of its group |
/// | 1 | flags |
/// | 1 | attempts, at most 255 |
/// | 1 | which times follow: bits 0 to 5 the stages, 6 the earliest begin, 7 the notification time |
/// | 8 | the broken rules, a bit each |
/// | 8 | when it was closed, in microseconds since 1970 |
/// | 8 | the hash of the schedule; 0 for none |
/// | 8 | the fingerprint of the installation; 0 for none |
/// | 8 each | the notification time, the stages, the earliest begin, in microseconds since 1970 |
/// | 16 | the pseudonym of the installation, where a flag says so |
/// | 1, n | the length of the schedule's id, and the id, where a flag says so |
/// | 1, n | of each broken rule the length of its sentence, and the sentence in UTF-8 |
enum CycleRecord {
    static let headerBytes = 40
    static let noReason: UInt8 = 255
    static let dueBit: UInt8 = 1 << 7
    static let earliestBeginBit: UInt8 = 1 << 6
    /// The longest sentence in bytes; the fold's own are shorter.
    private static let maximumDetailBytes = 255

    struct Flags: OptionSet {
        var rawValue: UInt8
        static let isTimeWarped = Flags(rawValue: 1 << 0)
        static let hasAssumedTimes = Flags(rawValue: 1 << 1)
        static let hasInstallation = Flags(rawValue: 1 << 2)
        static let hasScheduleId = Flags(rawValue: 1 << 3)
    }

    /// How many stages there are.
    static let stages = 6

    static func append(
        _ closed: ClosedCycle,
        _ name: CycleName?,
        closedAt: Timestamp,
        to output: inout [UInt8]
    ) {
        let start = output.count
        var flags: Flags = []
        if closed.isTimeWarped { flags.insert(.isTimeWarped) }
        if closed.hasAssumedTimes { flags.insert(.hasAssumedTimes) }
        if name?.installation != nil { flags.insert(.hasInstallation) }
        if name?.scheduleId.isEmpty == false { flags.insert(.hasScheduleId) }
        var present: UInt8 = 0
        for stage in 0..<stages where closed.stages[stage] != nil { present |= 1 << UInt8(stage) }
        if closed.earliestBegin != nil { present |= earliestBeginBit }
        if closed.notificationTime != nil { present |= dueBit }
        let head: InlineArray<8, UInt8> = [
            0, 0, closed.outcome.rawValue, closed.failureReason?.rawValue ?? noReason, UInt8(clamping: closed.group),
            flags.rawValue, UInt8(clamping: closed.attempts), present,
        ]
        for index in head.indices { output.append(head[index]) }
        output.append(littleEndian: closed.brokenRules)
        output.append(closedAt)
        output.append(littleEndian: closed.schedule ?? 0)
        output.append(littleEndian: closed.installation)
        if let due = closed.notificationTime { output.append(due) }
        for stage in 0..<stages {
            if let time = closed.stages[stage] { output.append(time) }
        }
        if let begin = closed.earliestBegin { output.append(begin) }
        if let installation = name?.installation {
            output.append(littleEndian: installation.high)
            output.append(littleEndian: installation.low)
        }
        if let id = name?.scheduleId, !id.isEmpty { output.append(text: id) }
        for violation in closed.violations { output.append(text: Array(violation.detail.utf8)) }
        let length = output.count - start
        output[start] = UInt8(truncatingIfNeeded: length)
        output[start + 1] = UInt8(truncatingIfNeeded: length >> 8)
    }

    /// The record at an offset; nil where it is damaged.
    static func read(_ bytes: [UInt8], at start: Int) -> (closed: ClosedCycle, name: CycleName?, closedAt: Timestamp)? {
        var reader = RecordBytes(bytes, at: start)
        guard
            let outcome = CycleOutcome(rawValue: reader.byte(2)),
            let broken = reader.word(8), let closedAt = reader.word(16), let schedule = reader.word(24),
            let installation = reader.word(32)
        else { return nil }
        let flags = Flags(rawValue: reader.byte(5))
        let present = reader.byte(7)
        var closed = ClosedCycle.unseen(of: installation, at: nil)
        closed.schedule = schedule == 0 ? nil : schedule
        closed.outcome = outcome
        closed.failureReason = FailureReason(rawValue: reader.byte(3))
        closed.group = Int(reader.byte(4))
        closed.attempts = Int(reader.byte(6))
        closed.isTimeWarped = flags.contains(.isTimeWarped)
        closed.hasAssumedTimes = flags.contains(.hasAssumedTimes)
        reader.skip(headerBytes)
        if present & dueBit != 0 { closed.notificationTime = reader.time() }
        for stage in 0..<stages where present & 1 << UInt8(stage) != 0 { closed.stages[stage] = reader.time() }
        if present & earliestBeginBit != 0 { closed.earliestBegin = reader.time() }
        var pseudonym: Pseudonym?
        if flags.contains(.hasInstallation), let high = reader.word(0), let low = reader.word(8) {
            pseudonym = Pseudonym(high: high, low: low)
            reader.skip(16)
        }
        let id = flags.contains(.hasScheduleId) ? reader.text() : []
        var rest = broken
        while rest != 0 {
            let rule = ViolationKind(rawValue: UInt8(rest.trailingZeroBitCount))
            let detail = String(decoding: reader.text(), as: UTF8.self)
            if let rule { closed.violations.append(CycleViolation(kind: rule, detail: detail)) }
            rest &= rest - 1
        }
        guard !reader.isCutShort else { return nil }
        let name = pseudonym == nil && id.isEmpty ? nil : CycleName(installation: pseudonym, scheduleId: id)
        return (closed, name, Timestamp(microseconds: Int64(bitPattern: closedAt)))
    }

    /// The bytes of a schedule's id in the record at an offset; empty where there is none.
    static func scheduleId(_ bytes: [UInt8], at start: Int) -> ArraySlice<UInt8> {
        let flags = Flags(rawValue: bytes[start + 5])
        guard flags.contains(.hasScheduleId) else { return [] }
        let times = bytes[start + 7].nonzeroBitCount * 8
        let offset = start + headerBytes + times + (flags.contains(.hasInstallation) ? 16 : 0)
        guard offset < bytes.count, offset + 1 + Int(bytes[offset]) <= bytes.count else { return [] }
        return bytes[(offset + 1)..<(offset + 1 + Int(bytes[offset]))]
    }

    /// The offsets of the records in the bytes of a segment; those before the first damaged one.
    static func offsets(of bytes: [UInt8], from start: Int) -> [Int] {
        var offsets: [Int] = []
        var offset = start
        while offset + headerBytes <= bytes.count {
            let length = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
            guard length >= headerBytes, offset + length <= bytes.count else { break }
            offsets.append(offset)
            offset += length
        }
        return offsets
    }
}

/// Reads the fields of a record with bounds checks.
private struct RecordBytes {
    private let bytes: [UInt8]
    private var position: Int
    private(set) var isCutShort = false

    init(_ bytes: [UInt8], at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// The byte at an offset from the current position; 0 beyond the end.
    func byte(_ offset: Int) -> UInt8 {
        bytes.indices.contains(position + offset) ? bytes[position + offset] : 0
    }

    func word(_ offset: Int) -> UInt64? {
        bytes.littleEndianWord(at: position + offset)
    }

    mutating func skip(_ count: Int) { position += count }

    mutating func time() -> Timestamp? {
        guard let word = word(0) else {
            isCutShort = true
            return nil
        }
        position += 8
        return Timestamp(microseconds: Int64(bitPattern: word))
    }

    mutating func text() -> [UInt8] {
        let count = Int(byte(0))
        guard position < bytes.count, position + 1 + count <= bytes.count else {
            isCutShort = true
            return []
        }
        defer { position += 1 + count }
        return Array(bytes[(position + 1)..<(position + 1 + count)])
    }
}

extension CycleStages {
    /// The stage of a bit.
    fileprivate subscript(bit: Int) -> Timestamp? {
        get {
            switch bit {
            case 0: scheduled
            case 1: executed
            case 2: success
            case 3: failure
            case 4: used
            default: delivered
            }
        }
        set {
            switch bit {
            case 0: scheduled = newValue
            case 1: executed = newValue
            case 2: success = newValue
            case 3: failure = newValue
            case 4: used = newValue
            default: delivered = newValue
            }
        }
    }
}

extension ClosedCycle {
    /// The violated rules, by the bit of their raw value.
    var brokenRules: UInt64 { violations.reduce(0) { $0 | 1 << UInt64($1.kind.rawValue) } }
}

extension [UInt8] {
    mutating func append(littleEndian word: UInt64) {
        unsafe Swift.withUnsafeBytes(of: word.littleEndian) { unsafe append(contentsOf: $0) }
    }

    fileprivate mutating func append(_ time: Timestamp) { append(littleEndian: UInt64(bitPattern: time.microseconds)) }

    /// Appends the length in a byte, and at most 255 bytes of a text, cut before the character that does not fit.
    fileprivate mutating func append(text: [UInt8]) {
        var end = Swift.min(text.count, 255)
        while end < text.count, end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        append(UInt8(end))
        append(contentsOf: text[..<end])
    }

    /// Eight bytes as a word; nil past the end.
    func littleEndianWord(at index: Int) -> UInt64? {
        guard index >= 0, index <= count - 8 else { return nil }
        return unsafe withUnsafeBytes {
            unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        }
    }
}
