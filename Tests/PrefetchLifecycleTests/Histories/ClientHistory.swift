// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import PrefetchLifecycle

/// What happens to an installation that counts itself, by chance: events of cycles of their own, and snapshots of what it
/// has counted until then, by reason, by their sum or both.
struct ClientHistory {
    enum Step {
        case event(Told)
        case snapshot(Told)

        var told: Told {
            switch self {
            case .event(let told), .snapshot(let told): told
            }
        }

        var isSnapshot: Bool { if case .snapshot = self { true } else { false } }
    }

    private(set) var steps: [Step] = []
    /// How often everything has happened after each step, by the places of `StageTally`.
    private(set) var truths: [[UInt64]] = []

    init(seed: UInt64, namesReasons: Bool) {
        var random = SplitMix64(state: seed)
        var truth = [UInt64](repeating: 0, count: StageTally.count)
        for second in 0..<Int.random(in: 5...40, using: &random) {
            let time = Double(second)
            if Int.random(in: 0..<5, using: &random) == 0 {
                let form = namesReasons ? 1 : Int.random(in: 0..<3, using: &random)
                steps.append(.snapshot(Self.snapshot(time, truth, form: form)))
            } else {
                let place = Int.random(in: 0..<StageTally.otherFailure, using: &random)
                truth[place] += 1
                steps.append(.event(Self.event(time, place)))
            }
            truths.append(truth)
        }
    }

    static func snapshot(_ time: Double, _ truth: [UInt64], form: Int) -> Told {
        var counters: [(ClientCounter, UInt64)] = [
            (.scheduled, truth[0]), (.executed, truth[1]), (.success, truth[2]), (.used, truth[3]),
        ]
        if form != 0 {
            counters += [(.failureNetwork, truth[4]), (.failureAuth, truth[5]), (.failureSystem, truth[6])]
        }
        if form != 1 { counters.append((.failure, truth[4...].reduce(0, +))) }
        return counters.reduce(Told(.telemetrySnapshot, time, id: nil)) { $0.telling($1.0, $1.1) }.of(1)
    }

    private static func event(_ time: Double, _ place: Int) -> Told {
        let kinds: [EventKind] = [
            .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchUsedForNotification,
        ]
        let id = "at \(time)"
        guard place >= StageTally.failures else { return Told(kinds[place], time, id: id).of(1) }
        let reasons: [FailureReason] = [.network, .auth, .system]
        return Told(.prefetchFailure, time, id: id).reason(reasons[place - StageTally.failures]).of(1)
    }
}
