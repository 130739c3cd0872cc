// SPDX-License-Identifier: Apache-2.0

/// An event that waits: for the schedule id of its cycle, for the line that names its cycle, or for the year of its stamp.
struct HeldEvent {
    var message: LogMessage
    var timestamp: Timestamp
    var isTimeAssumed: Bool
    /// What the texts of the message are ranges of.
    var texts: [UInt8]
    /// The cycle, by its serial; 0 for none.
    var cycle: UInt32
    /// The stamp of a line whose year is not known, in the leap year 2000.
    var yearless: YearlessStamp?
    /// Hash of the stream that it came in.
    var process: UInt64
    /// Whether the next line of its attempt may still name another cycle.
    var isTentative: Bool
    /// When it was read.
    var readAt: Timestamp
    /// The place of its line in the log, from 0.
    var line: Int
}

/// A stamp without a year.
struct YearlessStamp: Hashable {
    var wallMicroseconds: Int64
    var offset: Int32?
}
