// SPDX-License-Identifier: Apache-2.0

/// The open cycles without an installation of a ledger whose sources were not devices of their own yet.
///
/// JSON events of a source that name no installation belong to it; those of a cycle that was open at the upgrade stay
/// without one, so that the cycle goes on. Bounded, and dropped when the last of its cycles is over.
public struct CarriedCycles: Sendable {
    /// An open cycle.
    public struct Cycle: Hashable, Sendable {
        /// The hash of its schedule without an installation; 0 without a schedule id.
        public var schedule: UInt64
        /// Its notification time.
        public var due: Timestamp?
        /// The latest time that one of its events plans, or else has.
        var end: Timestamp

        /// - Parameter base: the time of its first event.
        public init(schedule: UInt64, due: Timestamp?, base: Timestamp) {
            self.schedule = schedule
            self.due = due
            let center = due?.microseconds ?? base.microseconds + 2 * CarriedCycles.halfDay
            end = Timestamp(microseconds: center + CarriedCycles.halfDay)
        }

        init(schedule: UInt64, due: Timestamp?, end: Timestamp) {
            self.schedule = schedule
            self.due = due
            self.end = end
        }
    }

    /// The most cycles that are carried; those that end last.
    public static let maximum = 512
    /// Half a day, since what lies further behind a notification belongs to the next day's. In microseconds.
    private static let halfDay: Int64 = 43_200_000_000
    /// How long cycles are carried at least, so that a source can catch up. In microseconds.
    private static let shortest: Int64 = 4 * halfDay

    let cycles: [Cycle]
    /// When none is carried any more.
    let until: Timestamp
    private let schedules: [UInt64: Timestamp]
    /// The notification times in milliseconds, and whether a cycle there has no schedule.
    private let dues: [Int64: Bool]

    /// Carries open cycles over.
    ///
    /// - Parameter now: the time of the upgrade.
    public init(_ open: [Cycle], now: Timestamp) {
        let latest = open.sorted { ($0.end, $0.schedule) > ($1.end, $1.schedule) }.prefix(Self.maximum)
        let end = max(latest.first?.end.microseconds ?? 0, now.microseconds + Self.shortest)
        self.init(Array(latest), until: Timestamp(microseconds: end))
    }

    init(_ cycles: [Cycle], until: Timestamp) {
        self.cycles = cycles
        self.until = until
        var schedules: [UInt64: Timestamp] = [:]
        var dues: [Int64: Bool] = [:]
        for cycle in cycles {
            if cycle.schedule != 0 {
                schedules[cycle.schedule] = max(schedules[cycle.schedule] ?? cycle.end, cycle.end)
            }
            guard let due = cycle.due else { continue }
            dues[due.microseconds / 1_000, default: false] =
                dues[due.microseconds / 1_000] == true || cycle.schedule == 0
        }
        self.schedules = schedules
        self.dues = dues
    }

    /// Whether there is nothing to carry.
    public var isEmpty: Bool { cycles.isEmpty }

    /// Whether an event without an installation belongs to one of the cycles.
    func hold(_ event: Event, _ key: IdentityKey, in bytes: Span<UInt8>) -> Bool {
        let planned = event.scheduledFor ?? event.earliestBeginDate ?? event.timestamp
        let schedule = key.schedule(of: event, in: bytes)
        if let schedule, let end = schedules[schedule], planned <= end { return true }
        guard let due = event.scheduledFor, let hasNoSchedule = dues[due.microseconds / 1_000] else { return false }
        return hasNoSchedule || schedule == nil
    }
}

extension JSONEventDecoder {
    /// Leaves an event without an installation that belongs to a cycle without one.
    @inline(never)
    mutating func leaveInCarriedCycle(_ draft: inout Draft, _ bytes: Span<UInt8>) {
        guard let carried, draft.event.installation == installation else { return }
        draft.event.installation = nil
        let texts = texts.bytes
        let isHeld =
            hasOwnTexts
            ? carried.hold(draft.event, identityKey, in: texts.span)
            : carried.hold(draft.event, identityKey, in: bytes)
        if !isHeld { draft.event.installation = installation }
    }
}
