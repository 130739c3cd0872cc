// SPDX-License-Identifier: Apache-2.0

internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// A fold with duplicates, as the service has it, on a clock of its own, and what its work took.
struct GrowingFold {
    private static let second: Int64 = 1_000_000
    /// Two days, after which a cycle closes soon after its last event came.
    private static let delay = 2 * 86_400 * second
    private static let start = Timestamp(seconds: 1_760_000_000)

    private let key: InstallationKey
    private let identityKey: IdentityKey
    private let installations: Int
    private var fold: LifecycleFold
    private var events = 0
    private var seconds = 0.0

    init(_ key: InstallationKey, installations: Int) {
        self.key = key
        self.installations = installations
        identityKey = key.identityKey
        var limits = LifecycleLimits()
        limits.openCycles = 20_000_000
        limits.identities = 100_000_000
        limits.installations = 2_000_000
        fold = LifecycleFold(key: identityKey, limits: limits, anonymousIsOneInstallation: false)
    }

    var openCycles: Int { fold.openCycles }

    /// The nanoseconds of an event since the last call.
    mutating func takeCost() -> Double {
        defer { (events, seconds) = (0, 0) }
        return seconds / Double(max(events, 1)) * 1e9
    }

    /// Folds cycles of two events each, which close 15 minutes after they came.
    ///
    /// - Parameter pace: the microseconds between two of them.
    mutating func takeClosing(_ cycles: Range<Int>, pace: Int64) throws {
        let time = Self.start.microseconds + Int64(cycles.lowerBound) * pace
        var body = EventLineWriter(cyclesInARow: 1, installations: installations)
        for cycle in cycles {
            let moment = Self.start.microseconds + Int64(cycle) * pace
            begin(cycle, at: moment, in: &body)
            body.begin("prefetch_used_for_notification", cycle, at: moment + 900 * Self.second)
            body.end()
        }
        try take(body, at: Timestamp(microseconds: time + Self.delay), closes: true)
    }

    /// Folds an event for each cycle, which stays open.
    mutating func takeScheduled(_ cycles: some Sequence<Int>) throws {
        var body = EventLineWriter(cyclesInARow: 1, installations: installations)
        for cycle in cycles { begin(cycle, at: Self.start.microseconds + Int64(cycle), in: &body) }
        try take(body, at: Self.start, closes: false)
    }

    /// Folds another event of each open cycle, at a time of its own for each round.
    mutating func takeExecuted(_ cycles: some Sequence<Int>, of round: Int) throws {
        var body = EventLineWriter(cyclesInARow: 1, installations: installations)
        for cycle in cycles {
            body.begin("prefetch_executed", cycle, at: Self.start.microseconds + 600 * Self.second + Int64(round))
            body.end()
        }
        try take(body, at: Self.start, closes: false)
    }

    private func begin(_ cycle: Int, at moment: Int64, in body: inout EventLineWriter) {
        body.begin("prefetch_scheduled", cycle, at: moment)
        body.time("scheduledFor", moment + 900 * Self.second)
        body.end()
    }

    private mutating func take(_ body: EventLineWriter, at time: Timestamp, closes: Bool) throws {
        let decoded = JSONEventDecoder.decode(
            body.bytes.span,
            framing: .lines,
            receivedAt: time,
            pseudonyms: key,
            identityKey: identityKey
        )
        let watch = Stopwatch()
        let new = decoded.events.count - fold.propose(decoded.identities).count
        guard decoded.events.count == body.lines, new == body.lines else {
            throw BenchmarkFailure("\(new) of \(body.lines) events are new: \(decoded.rejections.prefix(1))")
        }
        try fold.apply(decoded.events.bytes.span, decoded.hashes, receivedAt: time)
        fold.clearProposals()
        if closes, fold.isTickDue(at: time) { fold.tick(to: time) }
        seconds += watch.seconds
        events += new
    }
}
