// SPDX-License-Identifier: Apache-2.0

package import LifecycleState
package import PrefetchLifecycle
package import TelemetryEvents

/// Which closed cycles are looked for: those that match every condition, where a condition may name several values.
package struct CycleFilter: Sendable {
    /// A stage of a cycle, by its bit in a record.
    package enum Stage: UInt8, CaseIterable, Sendable {
        case scheduled, executed, success, failure, used, delivered
    }

    /// The wanted outcomes; empty for all.
    package var outcomes: Set<CycleOutcome> = []
    /// The wanted failure reasons; empty for all.
    package var reasons: Set<FailureReason> = []
    /// Rules of which one is broken; empty for all.
    package var violations: Set<ViolationKind> = []
    /// Buckets of which a rule is broken; empty for all.
    package var buckets: Set<ViolationBucket> = []
    /// The wanted platforms; empty for all.
    package var platforms: Set<String> = []
    /// The wanted versions; empty for all.
    package var versions: Set<String> = []
    /// Stages that were reached.
    package var reached: Set<Stage> = []
    /// Stages that were not reached.
    package var lacking: Set<Stage> = []
    /// The id of the schedule, as the ledger has it.
    package var scheduleId: [UInt8]?
    /// The fingerprint of the installation's pseudonym, which each cycle has, also where its names are forgotten.
    package var installation: UInt64?
    /// The notification time, or the time of closing where that is not known, from here on.
    package var from: Timestamp?
    /// The same up to here.
    package var to: Timestamp?
    /// Only cycles that broke a rule or ended otherwise than with content that was used.
    package var isWrongOnly = false

    package init() {}
}

/// A filter as masks, to be held against summaries and records.
struct CycleMask {
    private static let all = UInt64.max

    private var outcomes: UInt8 = .max
    /// A bit for each reason; nil for all.
    private var reasons: UInt8?
    private var violations: UInt64?
    private var bucketViolations: UInt64?
    private var groups: GroupSet?
    private var reached: UInt8 = 0
    private var lacking: UInt8 = 0
    private let scheduleId: [UInt8]?
    private let installation: UInt64?
    private let from: Int64
    private let to: Int64
    private let isWrongOnly: Bool

    init(_ filter: CycleFilter, groups known: [EventGroup]) {
        if !filter.outcomes.isEmpty { outcomes = filter.outcomes.reduce(0) { $0 | 1 << $1.rawValue } }
        if !filter.reasons.isEmpty { reasons = filter.reasons.reduce(0) { $0 | 1 << $1.rawValue } }
        if !filter.violations.isEmpty {
            violations = filter.violations.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
        }
        if !filter.buckets.isEmpty {
            bucketViolations = ViolationKind.allCases.reduce(0) {
                filter.buckets.contains($1.bucket) ? $0 | 1 << UInt64($1.rawValue) : $0
            }
        }
        if !filter.platforms.isEmpty || !filter.versions.isEmpty {
            var wanted = GroupSet()
            for (place, group) in known.enumerated() {
                let isPlatform = filter.platforms.isEmpty || filter.platforms.contains(group.platform)
                if isPlatform, filter.versions.isEmpty || filter.versions.contains(group.appVersion) {
                    wanted.insert(place)
                }
            }
            groups = wanted
        }
        reached = filter.reached.reduce(0) { $0 | 1 << $1.rawValue }
        lacking = filter.lacking.reduce(0) { $0 | 1 << $1.rawValue }
        scheduleId = filter.scheduleId
        installation = filter.installation
        from = filter.from?.microseconds ?? .min
        to = filter.to?.microseconds ?? .max
        isWrongOnly = filter.isWrongOnly
    }

    /// Whether a segment may hold a match.
    func mayMatch(_ summary: CycleSummary) -> Bool {
        guard
            outcomes & summary.outcomes != 0,
            reasons.map({ $0 & summary.reasons != 0 }) ?? true,
            violations.map({ $0 & summary.violations != 0 }) ?? true,
            bucketViolations.map({ $0 & summary.violations != 0 }) ?? true,
            groups.map({ $0.intersects(summary.groups) }) ?? true,
            reached & summary.reached == reached,
            lacking & summary.lacking == lacking,
            summary.latest >= from, summary.earliest <= to,
            scheduleId.map({ summary.mayHold(CycleSummary.hash($0)) }) ?? true,
            installation.map({ summary.mayHold($0) }) ?? true
        else { return false }
        return !isWrongOnly || summary.hasWrong
    }

    /// Whether the record at an offset matches; the offset is one of a whole record.
    func matches(_ bytes: [UInt8], at start: Int) -> Bool {
        let present = bytes[start + 7]
        guard
            outcomes & 1 << bytes[start + 2] != 0,
            reached & ~present == 0, lacking & present == 0,
            groups.map({ $0.contains(Int(bytes[start + 4])) }) ?? true
        else { return false }
        if let reasons {
            let reason = bytes[start + 3]
            guard reason < 8, reasons & 1 << reason != 0 else { return false }
        }
        if violations != nil || bucketViolations != nil || isWrongOnly {
            let broken = bytes.littleEndianWord(at: start + 8) ?? 0
            guard
                violations.map({ $0 & broken != 0 }) ?? true,
                bucketViolations.map({ $0 & broken != 0 }) ?? true,
                !isWrongOnly || broken != 0 || bytes[start + 2] != CycleOutcome.used.rawValue
            else { return false }
        }
        if from != .min || to != .max {
            let time = CycleSummary.time(of: bytes, at: start)
            guard time >= from, time <= to else { return false }
        }
        if let installation, bytes.littleEndianWord(at: start + 32) != installation { return false }
        if let scheduleId { return CycleRecord.scheduleId(bytes, at: start).elementsEqual(scheduleId) }
        return true
    }
}

/// A set of groups, of which there are at most 128.
struct GroupSet: Equatable, Sendable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    mutating func insert(_ place: Int) {
        if place < 64 { low |= 1 << UInt64(place) } else { high |= 1 << UInt64(min(place, 127) - 64) }
    }

    func contains(_ place: Int) -> Bool {
        place < 64 ? low & 1 << UInt64(place) != 0 : high & 1 << UInt64(min(place, 127) - 64) != 0
    }

    func intersects(_ other: GroupSet) -> Bool { low & other.low != 0 || high & other.high != 0 }
}

/// What the cycles of a segment have in common or may hold, by which a search passes over segments.
struct CycleSummary: Equatable, Sendable {
    private static let filterWords = 128
    private static let probes = 3

    private(set) var outcomes: UInt8 = 0
    private(set) var reasons: UInt8 = 0
    private(set) var violations: UInt64 = 0
    private(set) var groups = GroupSet()
    /// The stages that a cycle reached, and those that a cycle did not reach.
    private(set) var reached: UInt8 = 0
    private(set) var lacking: UInt8 = 0
    private(set) var hasWrong = false
    private(set) var earliest = Int64.max
    private(set) var latest = Int64.min
    /// A Bloom filter of installations and schedules' ids, 16 bits a cycle and name.
    private var names = [UInt64](repeating: 0, count: filterWords)

    mutating func include(_ bytes: [UInt8], at start: Int) {
        let broken = bytes.littleEndianWord(at: start + 8) ?? 0
        outcomes |= 1 << (bytes[start + 2] & 7)
        if bytes[start + 3] < 8 { reasons |= 1 << bytes[start + 3] }
        violations |= broken
        groups.insert(Int(bytes[start + 4]))
        reached |= bytes[start + 7]
        lacking |= ~bytes[start + 7]
        hasWrong = hasWrong || broken != 0 || bytes[start + 2] != CycleOutcome.used.rawValue
        let time = Self.time(of: bytes, at: start)
        earliest = min(earliest, time)
        latest = max(latest, time)
        if let installation = bytes.littleEndianWord(at: start + 32), installation != 0 { insert(installation) }
        let id = CycleRecord.scheduleId(bytes, at: start)
        if !id.isEmpty { insert(Self.hash(id)) }
    }

    func mayHold(_ hash: UInt64) -> Bool {
        (0..<Self.probes).allSatisfy { probe in
            let bit = Self.bit(hash, probe)
            return names[bit >> 6] & 1 << UInt64(bit & 63) != 0
        }
    }

    private mutating func insert(_ hash: UInt64) {
        for probe in 0..<Self.probes {
            let bit = Self.bit(hash, probe)
            names[bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    private static func bit(_ hash: UInt64, _ probe: Int) -> Int {
        Int(truncatingIfNeeded: hash >> UInt64(probe * 16)) & (filterWords * 64 - 1)
    }

    /// A hash of a text. It only decides where is searched, so that nothing follows from a collision.
    static func hash(_ text: some Collection<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
    }

    /// The notification time of a record, or its time of closing, in microseconds since 1970.
    static func time(of bytes: [UInt8], at start: Int) -> Int64 {
        let hasDue = bytes[start + 7] & CycleRecord.dueBit != 0
        let word = bytes.littleEndianWord(at: start + (hasDue ? CycleRecord.headerBytes : 16)) ?? 0
        return Int64(bitPattern: word)
    }
}
