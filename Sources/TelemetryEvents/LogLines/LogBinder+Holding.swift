// SPDX-License-Identifier: Apache-2.0

extension LogBinder {
    /// The maximum wait of an event in a live log, in microseconds.
    private static let longestWait: Int64 = 60_000_000
    /// How long before an execution a line may be stamped that tells of its run, in microseconds: half an hour.
    private static let latestName: Int64 = 1_800_000_000

    mutating func hold(_ event: HeldEvent, _ device: Int) {
        if binding.devices[device].held.count >= LogDevice.maximumHeld { releaseFirst(device) }
        binding.devices[device].held.append(event)
    }

    /// Emits the events that waited for the id of a cycle that now has one.
    mutating func releaseNamed(_ device: Int, _ cycleIndex: Int) {
        guard !binding.devices[device].held.isEmpty, binding.devices[device].cycles[cycleIndex].isBound else { return }
        release(device, ofCycle: binding.devices[device].cycles[cycleIndex].serial)
    }

    /// Assigns the tentative execution to the cycle that a later line named; without one it keeps its cycle.
    ///
    /// - Parameters:
    ///   - isAlone: whether nothing followed it, so that it may be a late or repeated run of the cycle before.
    ///   - time: that of the line which names its cycle, if known; one long before the execution comes late and names
    ///     another one.
    mutating func confirmExecution(
        _ device: Int,
        _ process: UInt64,
        _ serial: UInt32?,
        at time: Timestamp? = nil,
        isAlone: Bool = false
    ) {
        guard
            let waiting = binding.devices[device].held.lastIndex(where: { $0.isTentative && $0.process == process })
        else { return }
        let held = binding.devices[device].held[waiting]
        if let time, held.hasTime, held.timestamp.microseconds - time.microseconds > Self.latestName { return }
        if isAlone { returnToCycleBefore(device, waiting) }
        binding.devices[device].held[waiting].isTentative = false
        if let serial { binding.devices[device].held[waiting].cycle = serial }
        if let cycleIndex = binding.devices[device].index(of: binding.devices[device].held[waiting].cycle) {
            binding.devices[device].cycles[cycleIndex].execute()
            releaseNamed(device, cycleIndex)
        }
    }

    /// Whether an execution of a process at this time waits for the line that names its cycle.
    func holdsExecution(_ device: Int, _ process: UInt64, at time: Timestamp?) -> Bool {
        binding.devices[device].held.contains {
            $0.isTentative && $0.process == process && (time == nil || $0.timestamp == time)
        }
    }

    /// Takes an execution out of the unnamed cycle that it opened, if that holds nothing else: one line is no sign of a
    /// cycle that no other line tells of.
    private mutating func returnToCycleBefore(_ device: Int, _ index: Int) {
        let held = binding.devices[device].held[index]
        guard
            let phantom = binding.devices[device].index(of: held.cycle),
            binding.devices[device].cycles[phantom].isBare,
            binding.devices[device].held.count(where: { $0.cycle == held.cycle }) == 1,
            let before = binding.devices[device].cycleBefore(
                phantom,
                held.hasTime ? held.timestamp : nil,
                binding.lifetimes
            )
        else { return }
        let serial = binding.devices[device].cycles[before].serial
        binding.devices[device].held[index].cycle = serial
        binding.drop(phantom, of: device, replacedBy: serial)
    }

    /// Resolves the year of waiting events now that an absolute time is known.
    mutating func anchor(_ time: Timestamp, _ stream: Int, _ device: Int) {
        binding.anchor = time
        let isFirst = binding.streams[stream].anchor == nil
        binding.streams[stream].anchor = time
        guard isFirst, !binding.devices[device].held.isEmpty else { return }
        let process = binding.streams[stream].process
        for index in binding.devices[device].held.indices where binding.devices[device].held[index].process == process {
            guard let stamp = binding.devices[device].held[index].yearless else { continue }
            let known = dated(stamp, near: time, isPast: false)
            binding.devices[device].held[index].timestamp = known
            if known > binding.streams[stream].last ?? .earliestAccepted { binding.streams[stream].last = known }
            binding.devices[device].held[index].yearless = nil
        }
        release(device, ofCycle: 0)
        for cycleIndex in binding.devices[device].cycles.indices { releaseNamed(device, cycleIndex) }
    }

    /// Evicts a cycle of a full device: a delivered one, or else the oldest.
    mutating func evictCycle(_ device: Int) {
        guard binding.devices[device].cycles.count >= LogDevice.maximumCycles else { return }
        let past = binding.devices[device].cycles.firstIndex { $0.isDelivered } ?? 0
        let serial = binding.devices[device].cycles[past].serial
        while let first = binding.devices[device].held.firstIndex(where: { $0.cycle == serial }) {
            emitUnresolved(device, first)
        }
        if let left = binding.devices[device].index(of: serial) { binding.devices[device].cycles.remove(at: left) }
    }

    mutating func releaseExpired() {
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
        emitUnresolved(device, 0)
    }

    /// Emits an event whose wait was in vain.
    private mutating func emitUnresolved(_ device: Int, _ index: Int) {
        if binding.devices[device].held[index].isTentative { returnToCycleBefore(device, index) }
        var held = binding.devices[device].held.remove(at: index)
        if let stamp = held.yearless {
            held.timestamp = fallbackTime(stamp)
            held.yearless = nil
        }
        var cycleIndex = binding.devices[device].index(of: held.cycle)
        if cycleIndex == nil, held.belongsToCycle {
            cycleIndex = binding.devices[device].open(process: held.process)
        }
        if let cycleIndex {
            if held.isTentative { binding.devices[device].cycles[cycleIndex].execute() }
            binding.devices[device].cycles[cycleIndex].release(at: held.timestamp, identityKey)
        }
        emit(held, device, cycleIndex)
    }

    /// Emits the events of a cycle that wait for nothing else, in order; serial 0 means events without a cycle.
    private mutating func release(_ device: Int, ofCycle serial: UInt32) {
        let cycleIndex = binding.devices[device].index(of: serial)
        var index = 0
        while index < binding.devices[device].held.count {
            guard binding.devices[device].held[index].isReady(ofCycle: serial) else {
                index += 1
                continue
            }
            emit(binding.devices[device].held.remove(at: index), device, cycleIndex)
        }
    }

    private mutating func emit(_ held: HeldEvent, _ device: Int, _ cycleIndex: Int?) {
        if held.texts.isEmpty { texts.removeAll() } else { texts = EventTexts(held.texts) }
        emit(
            held.message,
            held.timestamp,
            isTimeAssumed: held.isTimeAssumed,
            cycleIndex,
            device,
            line: held.line
        )
    }
}

/// An event held back until its cycle's schedule id, the line that names its cycle, or the year of its stamp is known.
struct HeldEvent {
    var message: LogMessage
    var timestamp: Timestamp
    var isTimeAssumed: Bool
    /// The bytes that the message's texts are ranges of.
    var texts: [UInt8]
    /// The cycle's serial; 0 for none.
    var cycle: UInt32
    /// The stamp of a line without a known year, in the leap year 2000.
    var yearless: YearlessStamp?
    /// The process id of its stream.
    var process: UInt64
    /// Whether the next line of its attempt may still name another cycle.
    var isTentative: Bool
    var readAt: Timestamp
    /// The index of its line in the log, from 0.
    var line: Int

    /// Whether its time is neither assumed nor without a year.
    var hasTime: Bool { !isTimeAssumed && yearless == nil }

    var belongsToCycle: Bool { message.form.kind?.belongsToCycle == true }

    /// Whether it waits only for this cycle.
    fileprivate func isReady(ofCycle serial: UInt32) -> Bool {
        cycle == serial && !isTentative && yearless == nil && (serial != 0 || !belongsToCycle)
    }
}
