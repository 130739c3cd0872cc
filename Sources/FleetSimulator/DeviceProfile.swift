// SPDX-License-Identifier: Apache-2.0

/// What a device is for all its days.
struct DeviceProfile: Sendable {
    enum Platform: Sendable { case ios, android }

    /// How the schedules of a device are called.
    enum Naming: Sendable { case date, number, one }

    /// The two dialects of the plugin's documents for the names of the fields.
    enum Dialect: Sendable { case long, short }

    let installation: [UInt8]
    let platform: Platform
    let zone: DeviceZone
    /// When its notification is due, in minutes from midnight.
    let minuteOfDay: Int64
    let leadMinutes: Int64
    let naming: Naming
    let dialect: Dialect
    let appVersion: StaticString
    let osVersion: StaticString
    let model: StaticString
    /// Whether it sends its own counters at the end of a day.
    let sendsCounters: Bool
    /// Whether it tells of power and network, and of the hashes of contents and schedules.
    let tellsConditions: Bool
    let tellsHashes: Bool

    init(_ plan: FleetPlan, number: Int) {
        let scenario = plan.scenario(of: number)
        var random = StoryRandom(seed: plan.seed, stream: UInt64(number) &* 2)
        installation = Self.identifier(&random)
        let isAndroid = random.chance(400_000)
        switch plan.form {
        case .events: platform = isAndroid ? .android : .ios
        case .lines(let wrapper): platform = LineWrapping.isOfAndroid(wrapper) ? .android : .ios
        }
        let zones = scenario == .dst ? DeviceZone.saving : DeviceZone.all
        zone = random.pick(zones)
        // Around the hour that is lost or comes twice, where that is the point.
        minuteOfDay = scenario == .dst ? random.from(30...240) : random.from(300...1_380)
        leadMinutes = random.chance(700_000) ? 5 : random.pick([10, 15, 30, 60])
        let naming: Naming = random.chance(600_000) ? .date : random.chance(500_000) ? .number : .one
        // The collector keeps 32 open cycles of one id, and the binding of lines takes the nearest one.
        self.naming = naming == .one && plan.days > 14 ? .number : naming
        dialect = random.chance(500_000) ? .long : .short
        appVersion = random.pick(["1.4.2", "1.5.0", "2.0.1"])
        osVersion = platform == .android ? random.pick(["14", "15"]) : random.pick(["17.4.1", "18.1"])
        model =
            platform == .android
            ? random.pick(["Pixel 8 Pro", "SM-G998B"]) : random.pick(["iPhone15,2", "iPhone14,5"])
        sendsCounters = random.chance(300_000)
        tellsConditions = random.chance(600_000)
        tellsHashes = random.chance(400_000)
    }

    /// A random UUID.
    private static func identifier(_ random: inout StoryRandom) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for place in 0..<32 {
            if [8, 12, 16, 20].contains(place) { text.append(UInt8(ascii: "-")) }
            text.append(place == 12 ? UInt8(ascii: "4") : digits[Int(random.below(16))])
        }
        return text
    }
}
