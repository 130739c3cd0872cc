// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Two labels as a program has them.
struct Answer: LabelSet {
    static let labelNames = ["reason", "status"]

    var reason: Reason
    var status: Int

    var labelValues: [String] { [reason.labelValue, status.labelValue] }
    var labelWord: UInt64 { Self.word(reason, status) }
}
