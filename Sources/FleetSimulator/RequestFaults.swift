// SPDX-License-Identifier: Apache-2.0

/// What goes wrong with one batch on its way to a collector: a function of the plan and of the number of the batch.
package struct RequestFaults: Equatable, Sendable {
    package let isLostBefore: Bool
    package let isLostAfter: Bool
    package let isSplit: Bool
    package let isRepeated: Bool
    /// Where it breaks, in parts of a million.
    package let cut: Int64

    package init(_ plan: FleetPlan, batch: Int) {
        var random = StoryRandom(seed: plan.seed ^ 0x5EED_0B0D, stream: UInt64(batch))
        let faults = plan.faults
        isLostBefore = random.chance(faults.lossBefore)
        isLostAfter = random.chance(faults.lossAfter)
        isSplit = random.chance(faults.split)
        isRepeated = random.chance(faults.duplicateRequest)
        cut = random.below(1_000_000)
    }
}
