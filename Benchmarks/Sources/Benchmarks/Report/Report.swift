// SPDX-License-Identifier: Apache-2.0

/// All figures of a run.
struct Report: Sendable {
    let machine: Machine
    var rows: [Row] = []
}
