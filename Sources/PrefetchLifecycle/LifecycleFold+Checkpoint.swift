// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
    private static let totalsKey = "totals"

    /// What has changed since the last call, for a checkpoint: the whole state the first time.
    ///
    /// O(pages that changed): they are retained as they are now, and copied one by one only where the fold goes on to
    /// change them before they were encoded.
    public mutating func takeChanges() -> StateDelta {
        var delta = StateDelta()
        var value = StateWriter()
        value.append(clock.microseconds)
        value.append(latest.microseconds)
        groups.append(to: &value)
        delta.append(.encoded(StatePage(key: Self.totalsKey, value: value.bytes)))
        identities.takeChanges(into: &delta)
        cycles.takeChanges(into: &delta)
        installations.takeChanges(into: &delta)
        return delta
    }

    /// Takes in a page of the last checkpoint. Pages come in the order of their keys, before anything is folded.
    ///
    /// - Throws: `StateError` for a page that cannot be read.
    public mutating func restore(_ page: StatePage) throws(StateError) {
        if page.key.hasPrefix(IdentityPage.prefix) {
            identities.restore(try IdentityPage(page))
        } else if page.key.hasPrefix(CyclePage.prefix) {
            try cycles.restore(page)
        } else if page.key.hasPrefix(InstallationTable.prefix) {
            try installations.restore(page)
        } else if page.key == Self.totalsKey {
            var reader = StateReader(page)
            clock = Timestamp(microseconds: try reader.integer())
            latest = Timestamp(microseconds: try reader.integer())
            try groups.restore(&reader)
            installations.evicted = groups[0].evictedInstallations
        } else {
            throw StateError(key: page.key, problem: "a name that this version does not know")
        }
    }
}
