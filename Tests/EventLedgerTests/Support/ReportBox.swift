// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Synchronization

/// Collects reports from the writer thread.
final class ReportBox: Sendable {
    private let reports = Mutex<[CommitReport]>([])

    var all: [CommitReport] { reports.withLock { $0 } }

    func add(_ report: CommitReport) {
        reports.withLock { $0.append(report) }
    }
}
