// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What a cycle keeps once of a stage, and what its fact tells beside.
struct KeptOnce {
    var time = EarliestTime()
    var detail: UInt16 = 0

    init() {}

    @inline(__always)
    init(_ stage: Fact.Stage, of cycle: Cycle) {
        time = cycle[kept: stage]
        detail = Fact.kept(
            age: stage == .used ? cycle.age : nil,
            isSkewed: stage == .delivered && cycle.details.contains(.isDeliverySkewed)
        )
    }
}

extension EventKind {
    /// The stage of which a cycle keeps the earliest time.
    var keptOnce: Fact.Stage? {
        switch self {
        case .prefetchUsedForNotification: .used
        case .notificationDelivered: .delivered
        case .prefetchStarted: .started
        case .contentCached: .cached
        default: nil
        }
    }
}

extension Cycle {
    /// The stages of which it keeps the earliest time.
    static let keptOnce: [Fact.Stage] = [.used, .delivered, .started, .cached]

    /// The earliest time of a stage that it keeps once; unknown for others.
    @inline(__always)
    subscript(kept stage: Fact.Stage) -> EarliestTime {
        get {
            switch stage {
            case .used: used
            case .delivered: delivered
            case .started: started
            case .cached: cached
            default: EarliestTime()
            }
        }
        set {
            switch stage {
            case .used: used = newValue
            case .delivered: delivered = newValue
            case .started: started = newValue
            case .cached: cached = newValue
            default: break
            }
        }
    }
}
