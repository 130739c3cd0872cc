// SPDX-License-Identifier: Apache-2.0

internal import LifecycleState
package import PrefetchLifecycle
package import RefreshLifecycle
package import TelemetryEvents

/// The counts that the console shows over time, as of one position of the ledger.
package struct ConsoleCounts: Equatable, Sendable {
    package enum Field: Hashable, Sendable {
        case scheduled, executed, success, used
        case failure(FailureReason)
        case outcome(CycleOutcome)
        case fallback(FallbackCause)
        case violations(ViolationBucket)
        case received, accepted, duplicates, rejected
        /// A bucket of the histogram, not cumulative.
        case startDelay(Int)
        case drift(Int)
        case runs(RunOutcome)
        case skippedRuns, notificationsSent, runViolations
    }

    /// Every field, in the order in which they are saved; later versions append.
    package static let fields: [Field] =
        [.scheduled, .executed, .success, .used]
        + FailureReason.allCases.map { .failure($0) } + CycleOutcome.allCases.map { .outcome($0) }
        + FallbackCause.allCases.map { .fallback($0) } + ViolationBucket.allCases.map { .violations($0) }
        + [.received, .accepted, .duplicates, .rejected]
        + (0...TimeHistogram.Measure.startDelay.bounds.count).map { .startDelay($0) }
        + (0...TimeHistogram.Measure.drift.bounds.count).map { .drift($0) }
        + RunOutcome.allCases.map { .runs($0) } + [.skippedRuns, .notificationsSent, .runViolations]

    private static let places = Dictionary(uniqueKeysWithValues: zip(fields, fields.indices))

    package fileprivate(set) var values: [UInt64]

    package init() {
        values = [UInt64](repeating: 0, count: Self.fields.count)
    }

    package mutating func add(_ other: ConsoleCounts) {
        for index in values.indices { values[index] &+= other.values[index] }
    }

    package subscript(field: Field) -> UInt64 { Self.places[field].map { values[$0] } ?? 0 }

    /// What the folds have counted.
    ///
    /// - Parameters:
    ///   - received: the events received, duplicates and rejected ones included.
    package init(
        _ groups: [LifecycleGroup],
        _ refresh: RefreshTotals,
        received: UInt64,
        accepted: UInt64,
        duplicates: UInt64,
        rejected: UInt64
    ) {
        self.init()
        var place = 0
        func add(_ value: UInt64) {
            values[place] &+= value
            place += 1
        }
        for group in groups {
            let totals = group.totals
            place = 0
            add(totals.scheduled)
            add(totals.executed)
            add(totals.success)
            add(totals.used)
            for reason in FailureReason.allCases { add(totals.failure(reason)) }
            for outcome in CycleOutcome.allCases { add(totals.cycles(outcome)) }
            for cause in FallbackCause.allCases { add(totals.fallbacks(cause)) }
            for bucket in ViolationBucket.allCases {
                add(ViolationKind.allCases.reduce(0) { $1.bucket == bucket ? $0 &+ totals.violations($1) : $0 })
            }
            place += 4
            for count in totals.startDelay.counts { add(count) }
            for count in totals.drift.counts { add(count) }
        }
        let runs = place
        place = (Self.places[.received] ?? 0)
        for count in [received, accepted, duplicates, rejected] { add(count) }
        place = runs
        for outcome in RunOutcome.allCases { add(refresh.runs(outcome)) }
        add(RefreshSkipReason.allCases.reduce(0) { $0 &+ refresh.skipped($1) })
        add(refresh.notifications(.sent))
        add(RefreshViolationKind.allCases.reduce(0) { $0 &+ refresh.violations($1) })
    }
}

/// By how much the counts grew in each of the last minutes and quarters of an hour, by the ledger's recorded times, in
/// bounded memory.
package struct RecentCounts: Equatable, Sendable {
    /// A row of time slots of equal length.
    package struct Slots: Equatable, Sendable {
        /// The length of a slot.
        package let minutes: Int64
        /// The number of the slot in each place, by the place's number and the count of places.
        private var numbers: [Int64]
        private var values: [[UInt32]]

        fileprivate init(minutes: Int64, count: Int) {
            self.minutes = minutes
            numbers = [Int64](repeating: -1, count: count)
            values = [[UInt32]](repeating: [], count: count)
        }

        fileprivate mutating func add(_ growth: [UInt64], at minute: Int64) {
            let number = minute / minutes
            let place = Int(number % Int64(numbers.count))
            if numbers[place] != number {
                numbers[place] = number
                values[place] = [UInt32](repeating: 0, count: growth.count)
            }
            for index in growth.indices where growth[index] > 0 {
                let (sum, isOver) = values[place][index].addingReportingOverflow(UInt32(clamping: growth[index]))
                values[place][index] = isOver ? .max : sum
            }
        }

        /// What was counted in a slot.
        package subscript(number: Int64) -> ConsoleCounts {
            var counts = ConsoleCounts()
            let place = Int(number % Int64(numbers.count))
            guard number >= 0, numbers[place] == number else { return counts }
            for index in values[place].indices { counts.values[index] = UInt64(values[place][index]) }
            return counts
        }

        fileprivate func append(to output: inout [UInt8], since minute: Int64) {
            let kept = numbers.indices.filter {
                numbers[$0] >= 0 && numbers[$0] >= minute / minutes - Int64(numbers.count)
            }
            output.append(variable: UInt64(kept.count))
            for place in kept {
                output.append(variable: UInt64(numbers[place]))
                let last = values[place].lastIndex { $0 != 0 } ?? -1
                output.append(variable: UInt64(last + 1))
                for value in values[place].prefix(last + 1) { output.append(variable: UInt64(value)) }
            }
        }

        fileprivate mutating func restore(_ bytes: inout ArraySlice<UInt8>) -> Bool {
            guard let count = bytes.popVariable(), count <= numbers.count else { return false }
            for _ in 0..<count {
                guard
                    let number = bytes.popVariable().flatMap(Int64.init(exactly:)),
                    let length = bytes.popVariable(), length <= ConsoleCounts.fields.count
                else { return false }
                var growth = [UInt64](repeating: 0, count: ConsoleCounts.fields.count)
                for index in 0..<Int(length) {
                    guard let value = bytes.popVariable() else { return false }
                    growth[index] = value
                }
                let (minute, isOver) = number.multipliedReportingOverflow(by: minutes)
                guard !isOver else { return false }
                add(growth, at: minute)
            }
            return true
        }
    }

    /// The last minutes.
    package private(set) var minutes = Slots(minutes: 1, count: 64)
    /// The last quarters of an hour.
    package private(set) var quarters = Slots(minutes: 15, count: 100)
    /// From when on everything is counted here, in microseconds since 1970.
    package private(set) var since: Int64
    /// The counts up to which growth stands in the slots; nil until they are known.
    private var base: ConsoleCounts?
    private var minute: Int64 = 0

    /// - Parameter since: the ledger's clock.
    init(since: Int64) {
        self.since = since
    }

    /// Whether a time is in another minute than what was counted last, so that growth until then must be taken first.
    @inline(__always)
    package func isNewMinute(_ microseconds: Int64) -> Bool { microseconds / 60_000_000 != minute }

    /// Puts the growth since the last call into the slots of the minute that was reached then.
    package mutating func take(_ counts: ConsoleCounts, next microseconds: Int64? = nil) {
        if let base, base != counts {
            let growth = zip(counts.values, base.values).map { $0 >= $1 ? $0 - $1 : 0 }
            minutes.add(growth, at: max(minute, 0))
            quarters.add(growth, at: max(minute, 0))
        }
        base = counts
        if let microseconds { minute = microseconds / 60_000_000 }
    }

    // MARK: Checkpoints

    private static let version: UInt8 = 1

    var encoded: [UInt8] {
        var output = [Self.version]
        output.append(littleEndian: UInt64(bitPattern: since))
        output.append(littleEndian: UInt64(bitPattern: minute))
        minutes.append(to: &output, since: minute)
        quarters.append(to: &output, since: minute)
        return output
    }

    /// Restores what was saved; nil for another version or damage.
    init?(encoded: [UInt8]) {
        guard encoded.first == Self.version,
            let since = encoded.littleEndianWord(at: 1), let minute = encoded.littleEndianWord(at: 9)
        else { return nil }
        self.init(since: Int64(bitPattern: since))
        self.minute = Int64(bitPattern: minute)
        var rest = encoded[17...]
        guard self.minute >= 0, minutes.restore(&rest), quarters.restore(&rest), rest.isEmpty else { return nil }
    }
}

extension [UInt8] {
    /// Appends a number in seven bits a byte, the lowest first (LEB128).
    fileprivate mutating func append(variable number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension ArraySlice<UInt8> {
    /// Takes a number that ``Array/append(variable:)`` wrote; nil at the end.
    fileprivate mutating func popVariable() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }
}
