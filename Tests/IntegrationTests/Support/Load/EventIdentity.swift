// SPDX-License-Identifier: Apache-2.0

/// What tells two generated events apart: each schedule has each kind once.
struct EventIdentity: Hashable, Sendable {
    let scheduleId: String
    let kind: String
}
