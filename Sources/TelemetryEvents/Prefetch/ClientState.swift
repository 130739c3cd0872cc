// SPDX-License-Identifier: Apache-2.0

/// The plugin's notifications, of which the system lets only so many wait.
public struct RollingWindow: Hashable, Sendable {
    /// How many wait.
    public var pending: Int64?
    /// How many may wait: 64 on iOS.
    public var limit: Int64?
    /// How many are due today.
    public var today: Int64?
    /// How many are due tomorrow.
    public var tomorrow: Int64?
}

/// One schedule of the plugin's persisted plan. Its texts are ranges of the bytes that the event was read from.
public struct PlannedSchedule: Sendable {
    /// The most schedules of one event.
    public static let maximum = 128

    /// The schedule id, or its pseudonym; empty if it has none.
    public var scheduleId: Range<Int> = 0..<0
    /// The notification's due time.
    public var scheduledFor: Timestamp?
    /// The earliest time at which the operating system may run the task.
    public var earliestBeginDate: Timestamp?
    /// How long before the notification the prefetch is planned.
    public var leadMinutes: Int64?
    /// The hash of notification time, lead and schedule id; empty if it has none.
    public var scheduleHash: Range<Int> = 0..<0
}

/// A number of the rolling window. Raw values are stored in the ledger; they and those of `ClientCounter` differ.
enum RollingCount: UInt8, CaseIterable {
    case pending = 16
    case limit = 17
    case today = 18
    case tomorrow = 19
}

/// The encoding of what a client tells of its own state inside an event (`Event.clientCounters`).
///
/// Each entry begins with a byte: a `ClientCounter` or a `RollingCount`, followed by a variable-length integer (LEB128),
/// or 32 for a planned schedule, followed by the bits of its fields and these in order: texts as a length and bytes,
/// times and minutes as zigzag variable-length integers.
enum ClientStateRecord {
    static let plannedSchedule: UInt8 = 32

    /// The fields of a planned schedule.
    private struct Fields: OptionSet {
        var rawValue: UInt8
        static let scheduleId = Fields(rawValue: 1 << 0)
        static let scheduledFor = Fields(rawValue: 1 << 1)
        static let earliestBeginDate = Fields(rawValue: 1 << 2)
        static let leadMinutes = Fields(rawValue: 1 << 3)
        static let scheduleHash = Fields(rawValue: 1 << 4)
        static let known: Fields = [.scheduleId, .scheduledFor, .earliestBeginDate, .leadMinutes, .scheduleHash]
    }

    enum Entry {
        case counter(ClientCounter, UInt64)
        case rolling(RollingCount, UInt64)
        case planned(PlannedSchedule)
    }

    static func append(_ counter: ClientCounter, _ value: UInt64, to output: inout [UInt8]) {
        output.append(counter.rawValue)
        output.appendVarint(value)
    }

    static func append(_ count: RollingCount, _ value: UInt64, to output: inout [UInt8]) {
        output.append(count.rawValue)
        output.appendVarint(value)
    }

    /// - Parameter texts: the bytes that the schedule's texts are ranges of.
    static func append(_ schedule: PlannedSchedule, texts: Span<UInt8>, to output: inout [UInt8]) {
        var fields: Fields = []
        if !schedule.scheduleId.isEmpty { fields.insert(.scheduleId) }
        if schedule.scheduledFor != nil { fields.insert(.scheduledFor) }
        if schedule.earliestBeginDate != nil { fields.insert(.earliestBeginDate) }
        if schedule.leadMinutes != nil { fields.insert(.leadMinutes) }
        if !schedule.scheduleHash.isEmpty { fields.insert(.scheduleHash) }
        output.append(plannedSchedule)
        output.append(fields.rawValue)
        if fields.contains(.scheduleId) { appendText(texts, schedule.scheduleId, to: &output) }
        if let time = schedule.scheduledFor { output.appendVarint(zigzag: time.microseconds) }
        if let time = schedule.earliestBeginDate { output.appendVarint(zigzag: time.microseconds) }
        if let minutes = schedule.leadMinutes { output.appendVarint(zigzag: minutes) }
        if fields.contains(.scheduleHash) { appendText(texts, schedule.scheduleHash, to: &output) }
    }

    private static func appendText(_ texts: Span<UInt8>, _ text: Range<Int>, to output: inout [UInt8]) {
        output.appendVarint(UInt64(text.count))
        output.append(texts, text)
    }

    static func forEach(
        _ bytes: Span<UInt8>,
        _ range: Event.Text,
        _ body: (Entry) -> Void
    ) throws(EventRecordError) {
        let state = bytes.extracting(range)
        var reader = RecordReader(start: 0)
        while reader.position < state.count {
            let tag = try reader.byte(state)
            if let counter = ClientCounter(rawValue: tag) {
                body(.counter(counter, try reader.varint(state)))
            } else if let count = RollingCount(rawValue: tag) {
                body(.rolling(count, try reader.varint(state)))
            } else if tag == plannedSchedule {
                body(.planned(try schedule(&reader, state, at: range.lowerBound)))
            } else {
                throw reader.error("an unknown client counter")
            }
        }
    }

    private static func schedule(
        _ reader: inout RecordReader,
        _ state: Span<UInt8>,
        at start: Int
    ) throws(EventRecordError) -> PlannedSchedule {
        let fields = Fields(rawValue: try reader.byte(state))
        guard fields.isSubset(of: .known) else { throw reader.error("fields of a newer format") }
        var schedule = PlannedSchedule()
        if fields.contains(.scheduleId) { schedule.scheduleId = try text(&reader, state, at: start) }
        if fields.contains(.scheduledFor) { schedule.scheduledFor = try reader.time(try reader.zigzag(state)) }
        if fields.contains(.earliestBeginDate) {
            schedule.earliestBeginDate = try reader.time(try reader.zigzag(state))
        }
        if fields.contains(.leadMinutes) { schedule.leadMinutes = try reader.zigzag(state) }
        if fields.contains(.scheduleHash) { schedule.scheduleHash = try text(&reader, state, at: start) }
        return schedule
    }

    private static func text(
        _ reader: inout RecordReader,
        _ state: Span<UInt8>,
        at start: Int
    ) throws(EventRecordError) -> Range<Int> {
        let text = try reader.text(state)
        return start + text.lowerBound..<start + text.upperBound
    }
}

extension EventTexts {
    /// Appends the entries of a state that `isKept` keeps; the state is a range of these texts.
    mutating func appendState(_ state: Event.Text, where isKept: (ClientStateRecord.Entry) -> Bool) -> Event.Text {
        var kept: [UInt8] = []
        if !state.isEmpty {
            let held = bytes
            try? ClientStateRecord.forEach(held.span, state) { entry in
                guard isKept(entry) else { return }
                switch entry {
                case .counter(let counter, let value): ClientStateRecord.append(counter, value, to: &kept)
                case .rolling(let count, let value): ClientStateRecord.append(count, value, to: &kept)
                case .planned(let schedule): ClientStateRecord.append(schedule, texts: held.span, to: &kept)
                }
            }
        }
        return append(kept)
    }
}

extension Event {
    /// The rolling window that the client tells of; nil where it tells none of its numbers. Damaged bytes end it early.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func rollingWindow(in bytes: Span<UInt8>) -> RollingWindow? {
        if clientCounters.isEmpty { return nil }
        var window = RollingWindow()
        try? ClientStateRecord.forEach(bytes, clientCounters) { entry in
            guard case .rolling(let count, let value) = entry else { return }
            let number = Int64(clamping: value)
            switch count {
            case .pending: window.pending = number
            case .limit: window.limit = number
            case .today: window.today = number
            case .tomorrow: window.tomorrow = number
            }
        }
        return window == RollingWindow() ? nil : window
    }

    /// Calls `body` with each schedule of the plugin's plan, in stored order. Damaged bytes end it early.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func forEachPlannedSchedule(in bytes: Span<UInt8>, _ body: (PlannedSchedule) -> Void) {
        if clientCounters.isEmpty { return }
        try? ClientStateRecord.forEach(bytes, clientCounters) { entry in
            if case .planned(let schedule) = entry { body(schedule) }
        }
    }
}
