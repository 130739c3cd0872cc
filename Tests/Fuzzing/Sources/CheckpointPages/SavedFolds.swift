// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents

/// Both folds as the service has them, with the pages that their checkpoints have left.
struct SavedFolds {
    private(set) var prefetch: LifecycleFold
    private(set) var refresh = RefreshFold(anonymousIsOneInstallation: false)
    private(set) var pages: [String: [UInt8]] = [:]

    init(limits: LifecycleLimits) {
        prefetch = LifecycleFold(key: IdentityKey(1, 2), limits: limits, anonymousIsOneInstallation: false)
    }

    /// Restores pages in the order of their keys.
    init(restoring pages: [String: [UInt8]], limits: LifecycleLimits) throws(StateError) {
        self.init(limits: limits)
        self.pages = pages
        for (key, value) in pages.sorted(by: { $0.key < $1.key }) {
            let page = StatePage(key: key, value: value)
            if RefreshFold.holds(page) { try refresh.restore(page) } else { try prefetch.restore(page) }
        }
    }

    /// Folds what comes before a checkpoint, and saves it.
    mutating func begin(_ history: History) {
        apply(history.before, after: 0)
        tick(after: 3_600)
        save()
    }

    /// Folds what comes behind it, closes what is due then and some days later, and saves it.
    mutating func end(_ history: History) {
        apply(history.after, after: 7_200)
        tick(after: 7_200)
        save()
        tick(after: 10 * 86_400)
        save()
    }

    private mutating func apply(_ records: [UInt8], after seconds: Int64) {
        do throws(EventRecordError) {
            try prefetch.apply(records.span, receivedAt: Self.time(seconds))
            try refresh.apply(records.span, receivedAt: Self.time(seconds))
        } catch {
            finding("an accepted event cannot be folded: \(error)")
        }
    }

    private mutating func tick(after seconds: Int64) {
        prefetch.tick(to: Self.time(seconds))
        refresh.tick(to: Self.time(seconds))
    }

    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(microseconds: receivedAt.microseconds + seconds * 1_000_000)
    }

    private mutating func save() {
        var delta = prefetch.takeChanges()
        refresh.takeChanges(into: &delta)
        for prefix in delta.takeDeletedPrefixes(.max) { pages = pages.filter { !$0.key.hasPrefix(prefix) } }
        while let page = delta.takePage() { pages[page.key] = page.value }
    }
}
