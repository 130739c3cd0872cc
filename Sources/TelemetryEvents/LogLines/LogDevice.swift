// SPDX-License-Identifier: Apache-2.0

/// What the lines of one device have told: its cycles, and the events that wait.
struct LogDevice {
    /// The most cycles that are remembered; older ones are past.
    static let maximumCycles = 32
    /// The most events that wait.
    static let maximumHeld = 64

    /// Hash of the name.
    var name: UInt64
    /// What stands for the device in events; nil where the wrapper names none.
    var installation: Pseudonym?
    var cycles: [KnownCycle] = []
    var held: [HeldEvent] = []
    var usedAt: UInt64 = 0
    var lastSerial: UInt32 = 0

    init(name: UInt64, installation: Pseudonym?) {
        self.name = name
        self.installation = installation
    }

    /// The place of a cycle; the newest stand last and are looked at first.
    func index(of serial: UInt32) -> Int? {
        guard serial != 0 else { return nil }
        return lastIndex { $0.serial == serial }
    }

    func lastIndex(where isWanted: (KnownCycle) -> Bool) -> Int? {
        var index = cycles.count - 1
        while index >= 0 {
            if isWanted(cycles[index]) { return index }
            index -= 1
        }
        return nil
    }

    mutating func open(process: UInt64) -> Int {
        lastSerial &+= 1
        if lastSerial == 0 { lastSerial = 1 }
        cycles.append(KnownCycle(serial: lastSerial, process: process))
        return cycles.count - 1
    }
}

/// A cycle that the lines of a device have told of.
struct KnownCycle {
    struct Progress: OptionSet {
        var rawValue: UInt8
        static let scheduled = Progress(rawValue: 1 << 0)
        static let executed = Progress(rawValue: 1 << 1)
        static let ended = Progress(rawValue: 1 << 2)
        static let delivered = Progress(rawValue: 1 << 3)
        /// Its events no longer wait for a schedule id.
        static let released = Progress(rawValue: 1 << 4)
        static let missed = Progress(rawValue: 1 << 5)
        /// Other processes of the device live beside the one that told of it.
        static let apart = Progress(rawValue: 1 << 6)
    }

    /// Tells it from the others of its device.
    let serial: UInt32
    /// The process whose line told of it first.
    let process: UInt64
    /// The keyed hash of the schedule id as the lines have it; 0 while none is known.
    var idHash: UInt64 = 0
    /// The schedule id as it may be stored.
    var id: [UInt8] = []
    /// When the notification is due.
    var due: Timestamp?
    /// The earliest time of the task.
    var begin: Timestamp?
    var progress: Progress = []

    var isWaiting: Bool { progress.contains(.scheduled) && progress.isDisjoint(with: [.executed, .delivered]) }
    var isDelivered: Bool { progress.contains(.delivered) }
    /// By what the cycles of a device stand in order.
    var order: Timestamp { due ?? begin ?? Timestamp(microseconds: .max) }

    func distance(to time: Timestamp) -> UInt64 {
        (due ?? begin)?.distance(to: time) ?? .max
    }
}

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

/// From which to which line each process of a log has written. Two whose lifetimes cross live side by side; of two that
/// follow each other the second may be the first one started anew.
struct LogLifetimes: Sendable {
    private static let maximum = 4_096

    private struct Process: Hashable {
        var device: UInt64
        var process: UInt64
    }

    private var lines: [Process: ClosedRange<Int>] = [:]
    private var last: Process?
    private var lastLine = 0

    /// Takes in the lines of a piece before they are bound.
    mutating func add(_ messages: [ParsedMessage]) {
        for index in messages.indices where messages[index].process != 0 {
            let process = Process(device: messages[index].device, process: messages[index].process)
            if process != last {
                settle()
                last = process
                begin(process, messages[index].line)
            }
            lastLine = messages[index].line
        }
        settle()
    }

    /// Whether two different processes of a device live side by side.
    func cross(device: UInt64, _ process: UInt64, _ other: UInt64) -> Bool {
        guard process != other, let first = lines[Process(device: device, process: process)],
            let second = lines[Process(device: device, process: other)]
        else { return false }
        return first.overlaps(second)
    }

    /// Whether another process of the device lives beside this one.
    func hasCompany(device: UInt64, _ process: UInt64) -> Bool {
        guard lines.count > 1, let own = lines[Process(device: device, process: process)] else { return false }
        return lines.contains { other, range in
            other.device == device && other.process != process && range.overlaps(own)
        }
    }

    private mutating func begin(_ process: Process, _ line: Int) {
        guard lines[process] == nil else { return }
        if lines.count >= Self.maximum { lines.removeAll() }
        lines[process] = line...line
    }

    private mutating func settle() {
        guard let last, let range = lines[last] else { return }
        lines[last] = range.lowerBound...max(range.upperBound, lastLine)
    }
}
