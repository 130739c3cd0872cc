// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

extension EventKind {
    /// The syslog priority of an entry: 4 (warning) for what went wrong, else 6 (informational).
    var journalPriority: Int {
        switch self {
        case .prefetchScheduleFailed, .prefetchFailure, .prefetchExpired, .prefetchMissed, .contentCacheFailed,
            .contentMissing, .notificationDenied, .notificationDrift:
            4
        default: 6
        }
    }

    /// The id by which `journalctl` finds and explains entries of this kind: random, made once, never changed.
    var messageID: StaticString {
        switch self {
        case .prefetchRegistered: "d5ebb373b1d847c98ebb0b194de413b7"
        case .prefetchScheduled: "02f2723416b945319d93741094fdec40"
        case .prefetchScheduleFailed: "b168d64f277847b3a3fe95d6c709edb1"
        case .prefetchExecuted: "be2812412ef941168189edebb7ddc6ec"
        case .prefetchStarted: "081f78068a7b44718192d51c340dff55"
        case .prefetchSuccess: "8b41930ba01040f999604d890867aa55"
        case .prefetchFailure: "4cb13947f3814bbf907480c9e202f362"
        case .prefetchExpired: "2189d8dbcc2249b8aa1a8dd60afe7896"
        case .prefetchMissed: "6b2e48a4d60043958090eba60171d3c3"
        case .prefetchCompleted: "6204efee39c0492988f20cfe526f3d87"
        case .contentCached: "a3da3dfe331242139858da43a67ee35c"
        case .contentCacheFailed: "e15bbe4d79344c39af7fb45c437b4b2a"
        case .contentMissing: "d577281a578743fba68dc3e3155d6134"
        case .prefetchUsedForNotification: "7a9fd97688ab462ebfdfa1e78e881e65"
        case .notificationScheduled: "ac05abcce5424910a9e70c0a0bb88f7c"
        case .notificationDelivered: "ae646481d36841cd9085cab17e40d082"
        case .notificationDenied: "935f8ecaf21446698516c890aaaadd63"
        case .notificationDrift: "85309031231d45fa83b5b253212aa90b"
        case .timezoneChanged: "6b763fcc41864b33ae3eddbe31e8d562"
        case .leadCapped: "3a5ecfa5c0054f64ad7b5d3e5dbe83ca"
        case .prefetchCycleComplete: "1297893e6f6b4af4af39608e51b8dd34"
        case .pluginStarted: "be66f42a67854eb8b5aa67915b96de9e"
        case .telemetrySnapshot: "b4a250ba1b3841bc80e2f3514e50d151"
        }
    }
}
