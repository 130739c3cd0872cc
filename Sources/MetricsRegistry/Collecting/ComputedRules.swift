// SPDX-License-Identifier: Apache-2.0

/// What a family of computed series takes, and how.
struct ComputedRules: Sendable {
    let descriptor: MetricDescriptor
    let family: FamilyRules

    var isCounter: Bool { descriptor.kind == .counter }

    /// The value that is shown when a function gives `new` for a series that showed `old`: a counter's never falls, and
    /// what is no total is ignored and counted. Nil when there is nothing to show.
    func value(_ new: Double, after old: Double?) -> Double? {
        guard isCounter else { return new }
        return isTotal(new) ? max(new, old ?? 0) : old
    }

    /// The sum of those that are totals; the others are ignored and counted. Nil when there is none.
    func sum(_ totals: [Double]) -> Double? {
        let totals = totals.filter(isTotal)
        return totals.isEmpty ? nil : totals.reduce(0, +)
    }

    private func isTotal(_ value: Double) -> Bool {
        if value.isFinite, value >= 0 { return true }
        family.ignoredValues?.add()
        return false
    }
}
