// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// The counts of a fold; no member ever decreases.
public struct LifecycleTotals: Hashable, Sendable {
    /// Prefetch tasks scheduled.
    public internal(set) var scheduled: UInt64 = 0
    /// Prefetch tasks executed.
    public internal(set) var executed: UInt64 = 0
    /// Attempts that ended in success.
    public internal(set) var success: UInt64 = 0
    /// Notifications that used prefetched content.
    public internal(set) var used: UInt64 = 0
    /// Attempts that failed for lack of a network.
    public internal(set) var failureNetwork: UInt64 = 0
    /// Attempts that failed for lack of authorisation.
    public internal(set) var failureAuth: UInt64 = 0
    /// Attempts that failed because of the system.
    public internal(set) var failureSystem: UInt64 = 0
    /// Attempts that failed for another or an unknown reason.
    public internal(set) var failureOther: UInt64 = 0
    /// Successes that only a summary asserts.
    public internal(set) var impliedSuccess: UInt64 = 0
    /// Uses that only a summary asserts.
    public internal(set) var impliedUsed: UInt64 = 0
    /// Attempts ended by the system.
    public internal(set) var expired: UInt64 = 0
    /// Tasks that missed their window, as reported by the plugin.
    public internal(set) var missedWindow: UInt64 = 0
    /// Cycles whose content had to be fetched on demand.
    public internal(set) var fallbacks: UInt64 = 0
    /// Leads that were raised to the minimum of 60 s.
    public internal(set) var leadCapped: UInt64 = 0
    /// Failures that were retried within the same attempt.
    public internal(set) var retries: UInt64 = 0
    /// Notifications delivered more than 180 s, or 60 s on Android, from their time.
    public internal(set) var driftExceeded: UInt64 = 0
    /// Writes of content to the cache that failed.
    public internal(set) var cacheFailures: UInt64 = 0
    /// Successes whose content the server said to be unchanged, with status 304.
    public internal(set) var notModified: UInt64 = 0
    /// Cycles closed before their time, because too many were open or they were full.
    public internal(set) var evictedCycles: UInt64 = 0
    /// Installations evicted because too many were remembered.
    public internal(set) var evictedInstallations: UInt64 = 0
    /// Identities evicted before their window ended because too many were remembered.
    public internal(set) var evictedIdentities: UInt64 = 0

    /// The sum of the counters that events count in (`eventCounts` and `eventFamilies`), kept beside them so that the
    /// effect of one event is a subtraction.
    public internal(set) var increments: UInt64 = 0

    // Each array is indexed by the raw value of its case.
    var outcomes = [UInt64](repeating: 0, count: CycleOutcome.allCases.count)
    var violations = [UInt64](repeating: 0, count: ViolationKind.allCases.count)
    var delivered = [UInt64](repeating: 0, count: DeliveredContent.allCases.count)
    var pluginErrors = [UInt64](repeating: 0, count: PluginErrorCode.allCases.count)
    var recovered = [UInt64](repeating: 0, count: LifecycleStage.allCases.count)
    var snapshots = [UInt64](repeating: 0, count: SnapshotResult.allCases.count)
    var contentChecks = [UInt64](repeating: 0, count: IntegrityResult.allCases.count)
    var scheduleChecks = [UInt64](repeating: 0, count: IntegrityResult.allCases.count)
    var unchecked = [UInt64](repeating: 0, count: IntegrityCheck.allCases.count)
    /// Calls without and with an ETag.
    var apiCalls = [UInt64](repeating: 0, count: 2)
    var fallbackCauses = [UInt64](repeating: 0, count: FallbackCause.allCases.count)

    /// Fetch durations: as reported, else from execution to result.
    public internal(set) var fetchDuration = TimeHistogram(.fetchDuration)
    /// From the earliest begin of a task to its execution.
    public internal(set) var startDelay = TimeHistogram(.startDelay)
    /// The age of content when it was used.
    public internal(set) var contentAge = TimeHistogram(.contentAge)
    /// The distance of deliveries from their notification time.
    public internal(set) var drift = TimeHistogram(.drift)
    /// The distance of senders' clocks from the receiver's.
    public internal(set) var clockSkew = TimeHistogram(.clockSkew)
    /// From the event time to the arrival.
    public internal(set) var arrivalLag = TimeHistogram(.arrivalLag)

    /// The latest event time of each stage, by the raw value of `LifecycleStage`, in microseconds; 0 for none.
    var latest = [Int64](repeating: 0, count: LifecycleStage.allCases.count)

    /// Totals at zero.
    public init() {}

    /// The failures with one reason.
    public func failure(_ reason: FailureReason) -> UInt64 {
        switch reason {
        case .network: failureNetwork
        case .auth: failureAuth
        case .system: failureSystem
        case .other: failureOther
        }
    }
    /// The closed cycles with one outcome.
    public func cycles(_ outcome: CycleOutcome) -> UInt64 { outcomes[Int(outcome.rawValue)] }
    /// The closed cycles that violated one rule.
    public func violations(_ kind: ViolationKind) -> UInt64 { violations[Int(kind.rawValue)] }
    /// Notifications delivered with one kind of content.
    public func delivered(_ content: DeliveredContent) -> UInt64 { delivered[Int(content.rawValue)] }
    /// Plugin errors with one code.
    public func pluginErrors(_ code: PluginErrorCode) -> UInt64 { pluginErrors[Int(code.rawValue)] }
    /// Lost stages that were recovered from client counters.
    public func recovered(_ stage: LifecycleStage) -> UInt64 { recovered[Int(stage.rawValue)] }
    /// Client counter snapshots with one result.
    public func snapshots(_ result: SnapshotResult) -> UInt64 { snapshots[Int(result.rawValue)] }
    /// Cycles in which an integrity check had one result.
    public func checks(_ check: IntegrityCheck, _ result: IntegrityResult) -> UInt64 {
        switch check {
        case .content: contentChecks[Int(result.rawValue)]
        case .schedule: scheduleChecks[Int(result.rawValue)]
        }
    }
    /// Cycles that used content, or executed a schedule, without hashes to check it.
    public func unchecked(_ check: IntegrityCheck) -> UInt64 { unchecked[Int(check.rawValue)] }
    /// Calls of the content's server, by whether they carried an ETag.
    public func apiCalls(isConditional: Bool) -> UInt64 { apiCalls[isConditional ? 1 : 0] }
    /// Closed cycles whose content had to be fetched on demand, by the cause.
    public func fallbacks(_ cause: FallbackCause) -> UInt64 { fallbackCauses[Int(cause.rawValue)] }
    /// The latest event time of a stage; nil for none.
    public func latest(_ stage: LifecycleStage) -> Timestamp? {
        let time = latest[Int(stage.rawValue)]
        return time == 0 ? nil : Timestamp(microseconds: time)
    }

    mutating func addFailure(_ reason: FailureReason) {
        switch reason {
        case .network: failureNetwork += 1
        case .auth: failureAuth += 1
        case .system: failureSystem += 1
        case .other: failureOther += 1
        }
        increments += 1
    }
}

extension LifecycleTotals {
    /// Counts a verdict: the outcome, the violations, the integrity checks and the durations.
    mutating func add(_ evaluation: CycleEvaluation) {
        outcomes[Int(evaluation.outcome.rawValue)] += 1
        evaluation.eachBrokenKind { violations[Int($0.rawValue)] += 1 }
        addCheck(evaluation.contentHashMatches, of: .content, isDue: evaluation.used != nil)
        addCheck(evaluation.scheduleHashMatches, of: .schedule, isDue: evaluation.account.firstExecuted != nil)
        if let cause = evaluation.content.fallbackCause { fallbackCauses[Int(cause.rawValue)] += 1 }
        addTimes(of: evaluation)
    }

    private mutating func addCheck(_ matches: Bool?, of check: IntegrityCheck, isDue: Bool) {
        guard let matches else {
            if isDue { unchecked[Int(check.rawValue)] += 1 }
            return
        }
        let result = Int((matches ? IntegrityResult.match : .mismatch).rawValue)
        switch check {
        case .content: contentChecks[result] += 1
        case .schedule: scheduleChecks[result] += 1
        }
    }

    private mutating func addTimes(of evaluation: CycleEvaluation) {
        evaluation.eachTime { measure, length in
            switch measure {
            case .contentAge: contentAge.observe(length)
            case .fetchDuration: fetchDuration.observe(length)
            case .startDelay: startDelay.observe(length)
            case .drift: drift.observe(length)
            case .clockSkew, .arrivalLag: return
            }
        }
    }

    /// Counts what an event says by itself, independent of its cycle.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the event was read from.
    ///   - receivedAt: the arrival time; nil for a file.
    ///   - isTimed: whether its durations count; those of a warped clock do not.
    ///   - isToldAgain: whether it repeats an event, or is the second line of an incident, that is counted.
    /// - Returns: the duration or age of a cycle that it carried.
    mutating func count(
        _ event: borrowing Event,
        in bytes: Span<UInt8>,
        receivedAt: Timestamp?,
        isTimed: Bool,
        isToldAgain: Bool
    ) -> CountedTime? {
        var time: CountedTime?
        switch event.kind {
        case .leadCapped:
            leadCapped += 1
            increments += 1
        case .contentCacheFailed where !isToldAgain:
            cacheFailures += 1
            increments += 1
        case .apiCall:
            apiCalls[event.isConditional == true ? 1 : 0] += 1
            increments += 1
        case .prefetchSuccess where !isToldAgain, .prefetchFailure where !isToldAgain:
            if event.kind == .prefetchSuccess, event.status == 304 {
                notModified += 1
                increments += 1
            }
            if isTimed, let duration = event.duration { time = fetchDuration.observe(duration) }
        case .prefetchUsedForNotification where !isToldAgain:
            if isTimed, let age = event.age { time = contentAge.observe(age) }
        case .notificationDenied, .prefetchScheduleFailed, .pluginError:
            if let code = PluginErrorCode(event, in: bytes) {
                pluginErrors[Int(code.rawValue)] += 1
                increments += 1
            }
        default: break
        }
        guard !event.isTimeAssumed else { return time }
        if let stage = LifecycleStage(event.kind) {
            let place = Int(stage.rawValue)
            latest[place] = max(latest[place], event.timestamp.microseconds)
        }
        guard let receivedAt else { return time }
        let skew = event.clockSkew ?? 0
        if event.clockSkew != nil { clockSkew.observe(Int64(clamping: skew.magnitude)) }
        arrivalLag.observe(receivedAt.microseconds &- event.timestamp.microseconds &- skew)
        return time
    }
}

extension LifecycleTotals {
    // Every member, in the order in which a checkpoint stores them.
    private static var counts: [WritableKeyPath<LifecycleTotals, UInt64>] {
        [
            \.scheduled, \.executed, \.success, \.used, \.failureNetwork, \.failureAuth, \.failureSystem,
            \.failureOther, \.impliedSuccess, \.impliedUsed, \.expired, \.missedWindow, \.fallbacks, \.leadCapped,
            \.retries, \.driftExceeded, \.cacheFailures, \.evictedCycles, \.evictedInstallations, \.evictedIdentities,
            \.notModified,
        ]
    }

    /// How many of `counts`, of `families` and of `violations` a checkpoint has before version 3.
    private static let formerCounts = 20
    private static let formerFamilies = 9
    private static let formerViolations = 17

    private static func counts(_ version: UInt8) -> ArraySlice<WritableKeyPath<LifecycleTotals, UInt64>> {
        counts.prefix(version < 3 ? formerCounts : counts.count)
    }

    private static func families(_ version: UInt8) -> ArraySlice<WritableKeyPath<LifecycleTotals, [UInt64]>> {
        families.prefix(version < 3 ? formerFamilies : families.count)
    }

    private static func members(of family: WritableKeyPath<LifecycleTotals, [UInt64]>, _ version: UInt8) -> Int {
        version < 3 && family == \.violations ? formerViolations : .max
    }

    private static var families: [WritableKeyPath<LifecycleTotals, [UInt64]>] {
        [
            \.outcomes, \.violations, \.delivered, \.pluginErrors, \.recovered, \.snapshots, \.contentChecks,
            \.scheduleChecks, \.unchecked, \.apiCalls, \.fallbackCauses,
        ]
    }

    /// The members of `counts` that events count in; the others are bookkeeping about them.
    private static var eventCounts: [KeyPath<LifecycleTotals, UInt64>] {
        [
            \.scheduled, \.executed, \.success, \.used, \.failureNetwork, \.failureAuth, \.failureSystem,
            \.failureOther, \.expired, \.missedWindow, \.fallbacks, \.leadCapped, \.retries, \.driftExceeded,
            \.cacheFailures, \.notModified,
        ]
    }

    /// The members of `families` that events count in.
    private static var eventFamilies: [KeyPath<LifecycleTotals, [UInt64]>] {
        [\.delivered, \.pluginErrors, \.apiCalls]
    }

    /// The sum that `increments` keeps, computed from the counters.
    var sumOfEventCounters: UInt64 {
        let sum = Self.eventCounts.reduce(UInt64(0)) { $0 &+ self[keyPath: $1] }
        return Self.eventFamilies.reduce(sum) { $0 &+ self[keyPath: $1].reduce(0, &+) }
    }

    private static var histograms: [WritableKeyPath<LifecycleTotals, TimeHistogram>] {
        [\.fetchDuration, \.startDelay, \.contentAge, \.drift, \.clockSkew, \.arrivalLag]
    }

    /// - Parameter version: the version of the checkpoint's layout.
    func append(to writer: inout StateWriter, version: UInt8 = LifecycleFold.stateVersion) {
        for count in Self.counts(version) { writer.append(self[keyPath: count]) }
        for family in Self.families(version) {
            for count in self[keyPath: family].prefix(Self.members(of: family, version)) { writer.append(count) }
        }
        for histogram in Self.histograms {
            for count in self[keyPath: histogram].counts { writer.append(count) }
            writer.append(self[keyPath: histogram].microseconds)
        }
        for time in latest { writer.append(time) }
    }

    /// - Parameter version: the version of the checkpoint's layout.
    mutating func restore(_ reader: inout StateReader, version: UInt8) throws(StateError) {
        for count in Self.counts(version) { self[keyPath: count] = try reader.count() }
        for family in Self.families(version) {
            for index in self[keyPath: family].indices.prefix(Self.members(of: family, version)) {
                self[keyPath: family][index] = try reader.count()
            }
        }
        for histogram in Self.histograms {
            for bucket in self[keyPath: histogram].counts.indices {
                self[keyPath: histogram].counts[bucket] = try reader.count()
            }
            self[keyPath: histogram].microseconds = try reader.word()
        }
        for stage in latest.indices { latest[stage] = try reader.integer() }
        increments = sumOfEventCounters
    }

    /// Adds the totals of another group.
    mutating func add(_ other: LifecycleTotals) {
        for count in Self.counts { self[keyPath: count] += other[keyPath: count] }
        for family in Self.families {
            for index in self[keyPath: family].indices { self[keyPath: family][index] += other[keyPath: family][index] }
        }
        increments += other.increments
        for histogram in Self.histograms { self[keyPath: histogram].add(other[keyPath: histogram]) }
        for stage in latest.indices { latest[stage] = max(latest[stage], other.latest[stage]) }
    }
}
