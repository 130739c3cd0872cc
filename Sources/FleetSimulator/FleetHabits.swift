// SPDX-License-Identifier: Apache-2.0

/// How often something happens to a device, in parts of a million days, and how long it takes: what the operating system,
/// the network and the user do in the scenario `everyday`.
package struct FleetHabits: Equatable, Sendable {
    /// The system starts the task behind its window, or never.
    package var late: Int64 = 60_000
    package var skipped: Int64 = 40_000
    package var again: Int64 = 8_000
    package var expired: Int64 = 20_000
    package var networkFailure: Int64 = 40_000
    package var authFailure: Int64 = 8_000
    package var handlerFailure: Int64 = 6_000
    package var killed: Int64 = 3_000
    package var retried: Int64 = 40_000
    package var storageFailure: Int64 = 6_000
    package var contentLost: Int64 = 6_000
    package var contentChanged: Int64 = 1_000
    package var refused: Int64 = 6_000
    package var revoked: Int64 = 4_000
    package var drift: Int64 = 10_000
    package var reboot: Int64 = 20_000
    package var zoneChange: Int64 = 6_000
    package var reinstall: Int64 = 3_000
    package var forceReschedule: Int64 = 6_000
    package var repeated: Int64 = 10_000
    /// Of the runs whose conditions are told: those under Low Power Mode, and those without Wi-Fi.
    package var lowPower: Int64 = 60_000
    package var cellular: Int64 = 350_000

    /// From the earliest begin to the execution of a task that runs in its window.
    package var delays = Quantiles([0, 5_000, 20_000, 45_000, 90_000, 150_000, 210_000, 260_000, 290_000])
    /// The same of a task that is late.
    package var lateDelays = Quantiles([901_000, 4_000_000])
    /// From the execution to the result of the fetch.
    package var durations = Quantiles([540, 3_340])

    package init() {}

    /// Points of a distribution in equal shares, in milliseconds: the first is the least, the last the most.
    package struct Quantiles: Equatable, Sendable {
        /// How many points are kept of a sample.
        package static let most = 33

        package private(set) var points: [Int64]

        /// - Parameter points: ascending, and at least one.
        init(_ points: [Int64]) { self.points = points }

        /// Those of a sample in microseconds; nil for an empty one.
        package init?(ofMicroseconds sample: [Int64]) {
            guard !sample.isEmpty else { return nil }
            let sorted = sample.sorted()
            points = (0..<Self.most).map { sorted[$0 * (sorted.count - 1) / (Self.most - 1)] / 1_000 }
        }

        /// The point below which so many of 100 lie.
        package func percentile(_ percent: Int) -> Int64 {
            let place = (points.count - 1) * percent
            let low = points[place / 100]
            return low + (points[min(place / 100 + 1, points.count - 1)] - low) * Int64(place % 100) / 100
        }

        /// A time of the distribution, in microseconds.
        func draw(_ random: inout StoryRandom) -> Int64 {
            guard points.count > 1 else { return (points.first ?? 0) * 1_000 }
            let place = random.below(Int64(points.count - 1) * 1_000)
            let index = Int(place / 1_000)
            let milliseconds = points[index] * 1_000 + (points[index + 1] - points[index]) * (place % 1_000)
            return milliseconds + random.below(1_000)
        }
    }

    /// A rate, by the name that it is told by.
    package struct Kind: Sendable {
        package let name: String
        package let summary: String
        package let path: any WritableKeyPath<FleetHabits, Int64> & Sendable
        /// Whether `--like` takes it from a log.
        package let isLearned: Bool

        init(
            _ name: String,
            _ path: any WritableKeyPath<FleetHabits, Int64> & Sendable,
            _ summary: String,
            isLearned: Bool = true
        ) {
            self.name = name
            self.path = path
            self.summary = summary
            self.isLearned = isLearned
        }
    }

    package static let kinds = [
        Kind("late", \.late, "of passes whose task runs later than 15 minutes after its earliest begin"),
        Kind("skipped", \.skipped, "of passes whose task never runs"),
        Kind("again", \.again, "of passes whose task runs several times"),
        Kind("expired", \.expired, "of passes whose task the system ends"),
        Kind("network-failure", \.networkFailure, "of passes whose fetch fails for the network"),
        Kind("auth-failure", \.authFailure, "of passes whose fetch is not authorised"),
        Kind("handler-failure", \.handlerFailure, "of passes whose fetch fails for another reason"),
        Kind("killed", \.killed, "of passes whose task runs and tells no end"),
        Kind("retried", \.retried, "of passes whose fetch succeeds after a failure"),
        Kind("storage-failure", \.storageFailure, "of passes whose content cannot be cached"),
        Kind("content-changed", \.contentChanged, "of passes with hashes whose content is not the cached one"),
        Kind("content-lost", \.contentLost, "of passes whose cached content is missing"),
        Kind("drift", \.drift, "of passes whose notification comes late"),
        Kind("revoked", \.revoked, "of passes whose notification is not delivered"),
        Kind("low-power", \.lowPower, "of runs under Low Power Mode"),
        Kind("cellular", \.cellular, "of runs on a cellular network"),
        Kind("refused", \.refused, "of first days on which the system refuses the task", isLearned: false),
        Kind("reboot", \.reboot, "of days on which the device restarts", isLearned: false),
        Kind("zone-change", \.zoneChange, "of days on which the device travels", isLearned: false),
        Kind("reinstall", \.reinstall, "of days on which the app is installed anew", isLearned: false),
        Kind("force-reschedule", \.forceReschedule, "of days on which all is scheduled again", isLearned: false),
        Kind("repeated", \.repeated, "of first days on which a schedule is asked for repeatedly", isLearned: false),
    ]
}
