// SPDX-License-Identifier: Apache-2.0

extension LogBinder {
    /// How long an event waits in a live log, in microseconds.
    private static let longestWait: Int64 = 60_000_000

    mutating func hold(_ event: HeldEvent, _ device: Int) {
        if binding.devices[device].held.count >= LogDevice.maximumHeld { releaseFirst(device) }
        binding.devices[device].held.append(event)
    }

    /// Lets go of the events that waited for the id of a cycle that has one now.
    mutating func releaseNamed(_ device: Int, _ place: Int) {
        guard !binding.devices[device].held.isEmpty, binding.devices[device].cycles[place].isBound else { return }
        release(device, ofCycle: binding.devices[device].cycles[place].serial)
    }

    /// The execution that waited for the line that names its cycle takes it; without one it keeps the cycle it was given.
    mutating func settle(_ device: Int, _ process: UInt64, _ serial: UInt32?) {
        guard
            let waiting = binding.devices[device].held.lastIndex(where: { $0.isTentative && $0.process == process })
        else { return }
        binding.devices[device].held[waiting].isTentative = false
        if let serial { binding.devices[device].held[waiting].cycle = serial }
        if let place = binding.devices[device].index(of: binding.devices[device].held[waiting].cycle) {
            binding.devices[device].cycles[place].execute()
            releaseNamed(device, place)
        }
    }

    /// Gives the events that waited for their year the one that is known now.
    mutating func anchor(_ time: Timestamp, _ stream: Int, _ device: Int) {
        binding.anchor = time
        let isFirst = binding.streams[stream].anchor == nil
        binding.streams[stream].anchor = time
        guard isFirst, !binding.devices[device].held.isEmpty else { return }
        let process = binding.streams[stream].process
        for index in binding.devices[device].held.indices where binding.devices[device].held[index].process == process {
            guard let stamp = binding.devices[device].held[index].yearless else { continue }
            binding.devices[device].held[index].timestamp = dated(stamp, near: time, isPast: false)
            binding.devices[device].held[index].yearless = nil
        }
        release(device, ofCycle: 0)
        for place in binding.devices[device].cycles.indices { releaseNamed(device, place) }
    }

    /// Forgets a cycle of a device that has too many: one that was delivered, or else the oldest.
    mutating func makeRoom(_ device: Int) {
        guard binding.devices[device].cycles.count >= LogDevice.maximumCycles else { return }
        let past = binding.devices[device].cycles.firstIndex { $0.isDelivered } ?? 0
        let serial = binding.devices[device].cycles[past].serial
        while let first = binding.devices[device].held.firstIndex(where: { $0.cycle == serial }) {
            letGo(device, first)
        }
        binding.devices[device].cycles.remove(at: past)
    }

    mutating func releaseOld() {
        for device in binding.devices.indices {
            while let first = binding.devices[device].held.first,
                readAt.microseconds - first.readAt.microseconds > Self.longestWait
            {
                releaseFirst(device)
            }
        }
    }

    mutating func releaseAll(_ device: Int) {
        while !binding.devices[device].held.isEmpty { releaseFirst(device) }
    }

    private mutating func releaseFirst(_ device: Int) {
        letGo(device, 0)
    }

    /// Lets an event go that has waited in vain.
    private mutating func letGo(_ device: Int, _ index: Int) {
        var held = binding.devices[device].held.remove(at: index)
        if let stamp = held.yearless {
            held.timestamp = lastResort(stamp)
            held.yearless = nil
        }
        var place = binding.devices[device].index(of: held.cycle)
        if place == nil, held.belongsToCycle {
            place = binding.devices[device].open(process: held.process)
        }
        if let place {
            if held.isTentative { binding.devices[device].cycles[place].execute() }
            binding.devices[device].cycles[place].release(at: held.timestamp, identityKey)
        }
        emit(held, device, place)
    }

    /// Lets go of the events of a cycle that wait no more, in their order; 0 are those that belong to none.
    private mutating func release(_ device: Int, ofCycle serial: UInt32) {
        let place = binding.devices[device].index(of: serial)
        var index = 0
        while index < binding.devices[device].held.count {
            guard binding.devices[device].held[index].isReady(ofCycle: serial) else {
                index += 1
                continue
            }
            emit(binding.devices[device].held.remove(at: index), device, place)
        }
    }

    private mutating func emit(_ held: HeldEvent, _ device: Int, _ place: Int?) {
        texts = EventTexts(held.texts)
        emit(
            held.message,
            held.timestamp,
            isTimeAssumed: held.isTimeAssumed,
            place,
            device,
            line: held.line
        )
    }
}

extension HeldEvent {
    var belongsToCycle: Bool { message.form.kind?.belongsToCycle == true }

    /// Whether it waits for nothing but its cycle, and that is this one.
    func isReady(ofCycle serial: UInt32) -> Bool {
        cycle == serial && !isTentative && yearless == nil && (serial != 0 || !belongsToCycle)
    }
}

extension KnownCycle {
    /// Stops waiting for an id. A cycle without a notification time gets an id from its first event, since events need one
    /// of the two.
    mutating func release(at time: Timestamp, _ key: IdentityKey) {
        progress.insert(.released)
        guard idHash == 0, due == nil else { return }
        id = Array("unnamed-\(time)".utf8)
        idHash = key.text(id.span, 0..<id.count)
    }
}

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
