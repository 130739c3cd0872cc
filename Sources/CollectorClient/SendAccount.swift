// SPDX-License-Identifier: Apache-2.0

/// What was read of an input, and what was refused before it was sent.
struct SendAccount: Sendable {
    /// How many refused events are named one by one.
    static let namedRejections = 10

    var lines: UInt64 = 0
    var rejected: UInt64 = 0
    private(set) var rejections: [SendRejection] = []

    mutating func note(_ place: String, _ reason: String) {
        guard rejections.count < Self.namedRejections else { return }
        rejections.append(SendRejection(place: place, reason: reason))
    }
}
