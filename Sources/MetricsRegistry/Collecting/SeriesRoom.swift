// SPDX-License-Identifier: Apache-2.0

/// What the limits of a family leave for new series.
struct SeriesRoom {
    private var series: Int
    private var labelBytes: Int

    init(_ rules: FamilyRules, taken: [LabelBytes]) {
        series = rules.maximumSeries - taken.count
        labelBytes = rules.maximumLabelBytes - taken.reduce(0) { $0 + $1.count }
    }

    /// Takes room for one series; false, and nothing taken, when there is none.
    mutating func take(_ labels: LabelBytes) -> Bool {
        guard series > 0, labelBytes >= labels.count else { return false }
        series -= 1
        labelBytes -= labels.count
        return true
    }
}
