// SPDX-License-Identifier: Apache-2.0

/// What the lines of a piece of a log say, each by itself: not bound to streams, times and cycles yet.
public struct ParsedLog: Sendable {
    /// The plugin's messages, in their order.
    var messages: [ParsedMessage] = []
    /// What the texts of the messages are ranges of; redacted but for the names of schedules and devices, which only the
    /// binder reads.
    var texts = EventTexts()
    /// JSON events among the lines, each with the count of messages before them.
    var events: [(messages: Int, decoded: DecodedEvents, firstLine: Int)] = []
    /// The lines of the piece.
    public internal(set) var lines = LogLineCounts()

    init() {}
}

/// One message and what its wrapper says about it.
struct ParsedMessage: Sendable {
    var message = LogMessage(LogRule.Form(meaning: .nothing, phase: .plugin, remainder: .nothing, idNamesTask: false))
    var stamp: LogStamp?
    var process: UInt64 = 0
    /// The keyed hash of the device's name; 0 without one.
    var device: UInt64 = 0
    /// The device's name.
    var deviceName: Event.Text = 0..<0
    /// The keyed hash of the schedule id; 0 without one.
    var schedule: UInt64 = 0
    /// What a line that is told again is known by; 0 without a stamp of its own.
    var fingerprint: UInt64 = 0
    /// The place of the line in the log, from 0.
    var line = 0
}
