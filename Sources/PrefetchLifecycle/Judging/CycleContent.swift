// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What became of the content of a cycle: its `ttl`, its loss, and the calls that fetched it.
struct CycleContent {
    /// Two `ttl` of one content, in seconds.
    private(set) var ttls: (Int64, Int64)?
    /// Content that was cached and then missing within its `ttl`.
    private(set) var lost: (cached: Timestamp, missing: Timestamp)?
    /// When the cache was cleared, whose content was used.
    private(set) var cleared: Timestamp?
    /// A call without an ETag that was answered with status 304.
    private(set) var call: Timestamp?
    /// Why the content had to be fetched on demand; nil where it had not.
    private(set) var fallbackCause: FallbackCause?

    /// - Parameters:
    ///   - used: when its content was used.
    ///   - account: the facts of the cycle, summed up.
    ///   - told: what its installation told of the cache and of its calls.
    init(
        _ facts: Span<UInt64>,
        of cycle: Cycle,
        used: Timestamp?,
        _ account: borrowing CycleAccount,
        told: ToldContent
    ) {
        judgeTTL(facts)
        if cycle.flags.contains(.contentMissing) { judgeFallback(facts, of: cycle, told) }
        if let used { judgeUse(used, of: cycle, account, told) }
        if told.hasPlainCalls { judgeCalls(facts, of: cycle, told) }
    }

    /// Takes the loss of the content from the same cycle by another clock.
    mutating func takeLoss(of other: CycleContent) {
        if other.lost == nil { lost = nil }
        if fallbackCause != nil { fallbackCause = other.fallbackCause }
    }

    /// Holds each `ttl` against the others of the same content: that of one attempt, until the next fetch.
    private mutating func judgeTTL(_ facts: Span<UInt64>) {
        var known: Int64?
        var isNewAttempt = true
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            switch fact.stage {
            case .executed: isNewAttempt = true
            case .success where isNewAttempt: (known, isNewAttempt) = (fact.ttl, false)
            case .success, .ttl:
                guard let ttl = fact.ttl else { continue }
                if let known, known != ttl { ttls = ttls ?? (known, ttl) }
                known = known ?? ttl
            default: continue
            }
        }
    }

    /// What was seen of the content before it was missing.
    private mutating func judgeFallback(_ facts: Span<UInt64>, of cycle: Cycle, _ told: ToldContent) {
        var missing: Timestamp?
        var isExecuted = false
        var hasFailed = false
        var isRetried = false
        var fetched: Timestamp?
        var ttl: Int64?
        for index in facts.indices {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: cycle.base)
            if fact.stage == .contentMissing {
                missing = time
                break
            }
            ttl = fact.ttl ?? ttl
            switch fact.stage {
            case .executed: isExecuted = true
            case .success: (fetched, hasFailed) = (time, false)
            case .failure: (hasFailed, isRetried) = (true, fact.detail.contains(.willRetry))
            case .completed where fact.detail.contains(.unsuccessful): (hasFailed, isRetried) = (true, false)
            // Its retry succeeded.
            case .completed where isRetried: (fetched, hasFailed, isRetried) = (time, false, false)
            default: continue
            }
        }
        var cached: Timestamp?
        if let missing, let time = cycle.cached.time(base: cycle.base), time < missing { cached = time }
        let kept = cached.map { max($0, fetched ?? $0) } ?? fetched
        let isExpired =
            if let missing, let kept, let ttl { missing.microseconds - kept.microseconds > ttl * 1_000_000 } else {
                false
            }
        if let missing, let cached, !isExpired {
            let cleared = told.latest([.cacheCleared], before: missing)?.time
            if cleared.map({ $0 < cached }) ?? true { lost = (cached, missing) }
        }
        fallbackCause =
            if missing == nil {
                .unknown
            } else if hasFailed, kept == nil {
                .fetchFailed
            } else if kept != nil {
                isExpired ? .expiredContent : .contentLost
            } else {
                isExecuted ? .unknown : .notExecuted
            }
    }

    /// The use of content against the last time before it that the cache was cleared.
    private mutating func judgeUse(
        _ used: Timestamp,
        of cycle: Cycle,
        _ account: borrowing CycleAccount,
        _ told: ToldContent
    ) {
        guard let clearing = told.latest([.cacheCleared], before: used)?.time else { return }
        let cached = cycle.cached.time(base: cycle.base).flatMap { $0 <= used ? $0 : nil }
        let fetches = [account.usedSuccess, account.impliedSuccess, cached].compactMap(\.self)
        guard !fetches.contains(where: { $0.microseconds >= clearing.microseconds / 1_000 * 1_000 }) else { return }
        let isOlder =
            if let age = cycle.age {
                // An age is rounded up to whole seconds.
                used.microseconds - (age - 1) * 1_000_000 <= clearing.microseconds
            } else {
                !fetches.isEmpty || account.firstScheduled.map { $0 <= clearing } ?? false
            }
        if isOlder { cleared = clearing }
    }

    /// The last call before each success of an attempt that was answered with status 304.
    private mutating func judgeCalls(_ facts: Span<UInt64>, of cycle: Cycle, _ told: ToldContent) {
        var begin = Int64.min
        for index in facts.indices where call == nil {
            let fact = Fact(rawValue: facts[index])
            let time = fact.time(base: cycle.base)
            switch fact.stage {
            case .executed: begin = time.microseconds
            case .notModified:
                guard let last = told.latest([.plainCall, .conditionalCall], through: time), last.tag == .plainCall,
                    last.time.microseconds >= begin,
                    time.microseconds - last.time.microseconds <= Int64(CycleTable.ownMicroseconds)
                else { continue }
                call = last.time
            default: continue
            }
        }
    }
}
