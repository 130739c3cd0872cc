// SPDX-License-Identifier: Apache-2.0

/// The lines of one process: which cycle they are about in each phase of the lifecycle, and when they were written.
struct LogStream {
    /// Hash of the device's name.
    var device: UInt64
    let process: UInt64
    /// The cycles, by their serial; 0 for none.
    var scheduling: UInt32 = 0
    var execution: UInt32 = 0
    var delivery: UInt32 = 0
    /// The phase of the last line that belongs to a cycle.
    var phase = LogRule.Phase.plugin
    /// The time of the last stamped line.
    var last: Timestamp?
    /// The last absolute time in a message, by which a stamp without a year finds its own.
    var anchor: Timestamp?
    /// When the stream was used last, by the count of lines.
    var usedAt: UInt64 = 0

    subscript(phase: LogRule.Phase) -> UInt32 {
        get {
            switch phase {
            case .scheduling: scheduling
            case .execution: execution
            case .delivery, .summary: delivery
            case .plugin: 0
            }
        }
        set {
            switch phase {
            case .scheduling: scheduling = newValue
            case .execution: execution = newValue
            case .delivery, .summary: delivery = newValue
            case .plugin: break
            }
        }
    }

    /// Follows a cycle that has become one with another.
    mutating func replace(_ serial: UInt32, by other: UInt32) {
        if scheduling == serial { scheduling = other }
        if execution == serial { execution = other }
        if delivery == serial { delivery = other }
    }
}
