// SPDX-License-Identifier: Apache-2.0

/// The schedule ids of a device, by the numbers of its cycles.
struct ScheduleNames: Sendable {
    private let naming: DeviceProfile.Naming
    private let minuteOfDay: Int64
    private var known: [(cycle: Int32, name: [UInt8])] = []

    init(_ profile: DeviceProfile) {
        naming = profile.naming
        minuteOfDay = profile.minuteOfDay
    }

    /// The id of a cycle. Two notifications of one date are told apart.
    mutating func name(of step: StoryStep) -> [UInt8] {
        for other in known where other.cycle == step.cycle { return other.name }
        var buffer = OutputBuffer()
        switch naming {
        case .date:
            // Notifications are at least 18 hours apart, so that two of one date lie in its two halves.
            buffer.append("notif-")
            buffer.append(dateOf: step.due)
            if step.due.floored(by: 43_200_000_000) % 2 != 0 { buffer.append("-pm") }
        case .number:
            buffer.append("daily-")
            buffer.append(decimal: Int64(step.cycle) + 1)
        case .one:
            buffer.append("daily_")
            buffer.append(minuteOfDay / 60, digits: 2)
            buffer.append(":")
            buffer.append(minuteOfDay % 60, digits: 2)
        }
        if known.count == 4 { known.removeFirst() }
        known.append((step.cycle, buffer.bytes))
        return buffer.bytes
    }
}
