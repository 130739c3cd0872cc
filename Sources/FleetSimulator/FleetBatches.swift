// SPDX-License-Identifier: Apache-2.0

/// What some devices tell in a request. The batches of a lane have to arrive in their order, since they may be of one
/// device.
package struct FleetBatch: Sendable {
    package let lane: Int
    /// NDJSON.
    package let body: [UInt8]
}

/// A fleet in large batches, one device after the other.
///
/// A batch has whole devices, or days of one device, so that no device is in two lanes.
package struct FleetBatches: Sendable {
    /// A batch is complete from this size on. Collectors read what is larger on threads of their own.
    private static let leastBytes = 128 << 10

    private let plan: FleetPlan
    private var device: SimulatedDevice?
    private var number = 0
    /// Devices that are told, and the device that is being told.
    private var whole = OutputBuffer()
    private var part = OutputBuffer()
    private var isCut = false
    /// What must be counted of the devices that are told.
    package private(set) var truth = FleetTruth()
    /// The same for each device, where it was asked for.
    package private(set) var each: [FleetTruth] = []
    private let listsEach: Bool

    /// - Parameter listsEach: whether the truth of each device is kept.
    package init(_ plan: FleetPlan, listsEach: Bool = false) {
        (self.plan, self.listsEach) = (plan, listsEach)
    }

    /// How many devices are told.
    package var devices: Int { number }

    /// The next batch; nil once all devices are told.
    package mutating func next() -> FleetBatch? {
        while number < plan.devices {
            var device = self.device ?? SimulatedDevice(plan, number: number)
            while device.tellDay(to: &part) {
                guard part.count >= Self.leastBytes else { continue }
                self.device = device
                isCut = true
                return batch(of: &part, lane: number)
            }
            self.device = nil
            truth += device.truth
            if listsEach { each.append(device.truth) }
            number += 1
            if isCut {
                isCut = false
                if part.count > 0 { return batch(of: &part, lane: number - 1) }
            } else {
                whole.append(part.bytes)
                part.removeAll()
                if whole.count >= Self.leastBytes { return batch(of: &whole, lane: number - 1) }
            }
        }
        return whole.count > 0 ? batch(of: &whole, lane: plan.devices) : nil
    }

    private func batch(of buffer: inout OutputBuffer, lane: Int) -> FleetBatch {
        defer { buffer.removeAll() }
        return FleetBatch(lane: lane, body: buffer.bytes)
    }
}

/// A fleet whose devices are told side by side: each tells a day at a moment of that day of its own.
package struct PacedFleet: Sendable {
    private let plan: FleetPlan
    private let day: Duration
    private var fleet: [SimulatedDevice]
    private var buffer = OutputBuffer()
    /// How many days of devices are told.
    private var told = 0

    /// - Parameter day: how long a day takes.
    package init(_ plan: FleetPlan, day: Duration) {
        (self.plan, self.day) = (plan, day)
        fleet = (0..<plan.devices).map { SimulatedDevice(plan, number: $0) }
    }

    /// When the next device tells its day, from the start on; nil once all is told.
    package var due: Duration? {
        let (days, device) = told.quotientAndRemainder(dividingBy: plan.devices)
        return days < plan.days ? day * days + day * (device + 1) / plan.devices : nil
    }

    /// The day of the device that is due; its body may be empty.
    package mutating func next() -> FleetBatch? {
        guard due != nil else { return nil }
        let device = told % plan.devices
        told += 1
        buffer.removeAll()
        _ = fleet[device].tellDay(to: &buffer)
        return FleetBatch(lane: device, body: buffer.bytes)
    }

    /// What must be counted of each device, once all is told.
    package var truths: [FleetTruth] { fleet.map(\.truth) }
}
