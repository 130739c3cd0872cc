// SPDX-License-Identifier: Apache-2.0

/// All figures of a run.
struct Report: Sendable {
    let machine: Machine
    var rows: [Row] = []
    /// The share of the machine's CPU time that others had meanwhile, from 0 to 1.
    var othersShare = 0.0
}
