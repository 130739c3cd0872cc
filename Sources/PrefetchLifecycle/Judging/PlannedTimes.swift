// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The times of a cycle by the clock that planned times follow, which a test of the app may have warped.
struct PlannedTimes {
    let skippedBegin: Timestamp?
    let waitingBegin: Timestamp?
    let lateStart: (started: Timestamp, begin: Timestamp)?
    let lastStarted: Timestamp?
    /// The smallest lead of a task, in microseconds.
    let lead: Int64?
    let used: Timestamp?
    /// The delivery of the content that was used; its use where no delivery is told.
    let shown: Timestamp?
    let usedSuccess: Timestamp?
    /// The delivery minus the notification time, in microseconds.
    let drift: Int64?

    init(_ cycle: Cycle, _ account: borrowing CycleAccount) {
        skippedBegin = account.skippedBegin
        waitingBegin = account.waitingBegin
        lateStart = account.lateStart
        lastStarted = account.lastStarted
        lead = account.lead
        let delivered = cycle.details.contains(.isDeliverySkewed) ? nil : cycle.delivered.time(base: cycle.base)
        used = account.used(of: cycle)
        // Of a use that only a summary asserts the time is not known.
        shown = used.flatMap { delivered ?? (cycle.used.isKnown ? $0 : nil) }
        usedSuccess = account.usedSuccess
        drift = cycle.drift
    }
}
