// SPDX-License-Identifier: Apache-2.0

/// A daily notification and its task.
struct Appointment: Sendable {
    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 3_600_000_000

    var cycle: Int32
    var due: Int64
    var begin: Int64
    /// What the hash of the schedule is made of.
    let hash: UInt64

    private init(cycle: Int32, day: Int64, _ profile: DeviceProfile, _ zone: DeviceZone) {
        self.cycle = cycle
        due = zone.moment(day: day, minuteOfDay: profile.minuteOfDay)
        begin = due - profile.leadMinutes * Self.minute
        hash = UInt64(bitPattern: due) ^ UInt64(bitPattern: profile.leadMinutes) << 56 | 1
    }

    /// The first one of a device, six hours after the start or later.
    init(firstAfter start: Int64, _ profile: DeviceProfile, _ zone: DeviceZone) {
        let day = (start + zone.offset(at: start)).floored(by: 24 * Self.hour)
        self.init(cycle: 0, from: day, notBefore: start + 6 * Self.hour, profile, zone)
    }

    /// The one of the next day, 18 hours later or more whatever the clocks do.
    init(after last: Appointment, _ profile: DeviceProfile, _ zone: DeviceZone) {
        let day = (last.due + zone.offset(at: last.due)).floored(by: 24 * Self.hour) + 1
        self.init(cycle: last.cycle + 1, from: day, notBefore: last.due + 18 * Self.hour, profile, zone)
    }

    private init(cycle: Int32, from day: Int64, notBefore: Int64, _ profile: DeviceProfile, _ zone: DeviceZone) {
        var day = day
        while zone.moment(day: day, minuteOfDay: profile.minuteOfDay) < notBefore { day += 1 }
        self.init(cycle: cycle, day: day, profile, zone)
    }
}
