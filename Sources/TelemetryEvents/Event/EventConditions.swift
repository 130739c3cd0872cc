// SPDX-License-Identifier: Apache-2.0

/// The network that a device was in, as far as the client tells it.
public enum NetworkKind: UInt8, CaseIterable, Sendable {
    case wifi = 1
    case cellular = 2
    case offline = 3

    /// The name in JSON.
    public var name: StaticString {
        switch self {
        case .wifi: "wifi"
        case .cellular: "cellular"
        case .offline: "none"
        }
    }
}

/// A condition of a run, of a launch or of a call that is true, false or unknown.
///
/// Two bits each: known, and above it true. Records store them, so they are never reassigned; bits 12 and 13 hold the
/// network.
enum EventCondition: UInt32, CaseIterable {
    case lowPowerMode = 0
    case pluggedIn = 2
    case backgroundRefresh = 4
    case simulator = 6
    case hasPendingSchedules = 8
    case inProgress = 10
    case conditional = 16
    case authenticated = 18
}

/// All conditions of an event, as a record stores them.
struct EventConditions {
    private static let networkShift: UInt32 = 12
    private static let known: UInt32 = 0x000F_3FFF
    /// The lower bit of each condition.
    private static let knownBits: UInt32 = 0x0005_0555

    private(set) var bits: UInt32 = 0

    init() {}

    /// Nil for bits of a newer format. What is true without being known is dropped.
    init?(bits: UInt32) {
        guard bits & ~Self.known == 0 else { return nil }
        let known = bits & Self.knownBits
        self.bits = bits & (known | known << 1 | 3 << Self.networkShift)
    }

    subscript(condition: EventCondition) -> Bool? {
        get { bits >> condition.rawValue & 1 == 0 ? nil : bits >> condition.rawValue & 2 != 0 }
        set {
            let value: UInt32 = newValue.map { $0 ? 3 : 1 } ?? 0
            bits = bits & ~(3 << condition.rawValue) | value << condition.rawValue
        }
    }

    var network: NetworkKind? {
        get { NetworkKind(rawValue: UInt8(truncatingIfNeeded: bits >> Self.networkShift & 3)) }
        set { bits = bits & ~(3 << Self.networkShift) | UInt32(newValue?.rawValue ?? 0) << Self.networkShift }
    }
}

extension Event {
    /// The conditions together.
    var conditions: EventConditions {
        get { EventConditions(bits: UInt32(callConditions) << 16 | UInt32(runConditions)) ?? EventConditions() }
        set {
            runConditions = UInt16(truncatingIfNeeded: newValue.bits)
            callConditions = UInt8(truncatingIfNeeded: newValue.bits >> 16)
            presence.set(.conditions, newValue.bits != 0)
        }
    }

    /// Whether the device was in low power mode.
    public var lowPowerMode: Bool? {
        get { conditions[.lowPowerMode] }
        set { conditions[.lowPowerMode] = newValue }
    }

    /// Whether the device was connected to power.
    public var pluggedIn: Bool? {
        get { conditions[.pluggedIn] }
        set { conditions[.pluggedIn] = newValue }
    }

    /// Whether the user lets the app refresh in the background.
    public var backgroundRefresh: Bool? {
        get { conditions[.backgroundRefresh] }
        set { conditions[.backgroundRefresh] = newValue }
    }

    /// Whether the app ran in a simulator.
    public var isSimulator: Bool? {
        get { conditions[.simulator] }
        set { conditions[.simulator] = newValue }
    }

    /// At a launch: whether the plugin found schedules that wait.
    public var hasPendingSchedules: Bool? {
        get { conditions[.hasPendingSchedules] }
        set { conditions[.hasPendingSchedules] = newValue }
    }

    /// At a launch: whether a task is running.
    public var inProgress: Bool? {
        get { conditions[.inProgress] }
        set { conditions[.inProgress] = newValue }
    }

    /// Of a call: whether it carried an ETag.
    public var isConditional: Bool? {
        get { conditions[.conditional] }
        set { conditions[.conditional] = newValue }
    }

    /// Of a call: whether it carried a token.
    public var isAuthenticated: Bool? {
        get { conditions[.authenticated] }
        set { conditions[.authenticated] = newValue }
    }

    /// The network that the device was in.
    public var network: NetworkKind? {
        get { conditions.network }
        set { conditions.network = newValue }
    }

    /// Of a warp of the clock: by how much. Of a scheduled prefetch: the lead that the client tells.
    public var minutes: Int64? {
        get { presence.contains(.minutes) ? Int64(minuteCount) : nil }
        set {
            minuteCount = Int32(clamping: newValue ?? 0)
            presence.set(.minutes, newValue != nil)
        }
    }
}

extension RecordWriter {
    /// The most bytes of conditions and minutes.
    static let largestCircumstances = 3 + 5

    mutating func circumstances(of event: borrowing Event, _ output: inout MutableRawSpan) {
        if event.presence.contains(.conditions) { varint(UInt64(event.conditions.bits), &output) }
        if event.presence.contains(.minutes) { varint(zigzag: Int64(event.minuteCount), &output) }
    }
}

extension RecordReader {
    mutating func circumstances(of event: inout Event, _ bytes: Span<UInt8>) throws(EventRecordError) {
        if event.presence.contains(.conditions) {
            guard let bits = UInt32(exactly: try varint(bytes)), let conditions = EventConditions(bits: bits) else {
                throw error("conditions of a newer format")
            }
            event.conditions = conditions
        }
        if event.presence.contains(.minutes) {
            guard let minutes = Int32(exactly: try zigzag(bytes)) else { throw error("minutes out of range") }
            event.minuteCount = minutes
        }
    }
}
