// SPDX-License-Identifier: Apache-2.0

/// Finds the cycle of each line: by the schedule id or the notification time that it names, else by the order of lines
/// in its stream and of cycles on its device.
///
/// A stream is the lines of one process on one device. Cycles belong to devices, because the system launches the app
/// anew for the task and for the notification. Devices, streams, cycles and waiting events are bounded; the least
/// recently used are evicted.
struct LogBinding {
    static let maximumDevices = 64
    static let maximumStreams = 256
    /// A notification time that differs by less is a wrong one of the same notification.
    private static let otherTimeMicroseconds: UInt64 = 43_200_000_000

    var devices: [LogDevice] = []
    var streams: [LogStream] = []
    /// The stream of the last line.
    var lastStream = 0
    /// The last absolute time in any message.
    var anchor: Timestamp?
    var lineCount: UInt64 = 0
    var lifetimes = LogLifetimes()
    /// What speaks against the lines being those of one device, since the start.
    var doubts: DeviceDoubts = []

    /// Finds the cycle of a message, and opens one if the message begins a cycle.
    ///
    /// - Parameters:
    ///   - idHash: the hash of the message's schedule id; 0 for none.
    ///   - id: the id; empty if the device already has it.
    ///   - time: when the line was written, if known.
    ///   - mayOpen: whether the message may open a cycle.
    mutating func cycle(
        of message: LogMessage,
        stream: Int,
        device: Int,
        idHash: UInt64,
        id: KnownId,
        time: Timestamp?,
        mayOpen: Bool
    ) -> Int? {
        let due = message.due
        let phase = phase(of: message, in: streams[stream])
        if phase == .plugin { return nil }
        let context = devices[device].index(of: streams[stream][phase])
        let found: Int?
        if idHash != 0 {
            found = cycleNamed(idHash, due, phase, context, device, stream, time)
        } else if let due {
            found = cycleDue(due, phase, context, device, stream) ?? executing(message, due, context, device)
        } else {
            let line = LineInOrder(
                phase: phase,
                kind: message.form.kind,
                begin: message.begin,
                time: time,
                context: context,
                mayOpen: mayOpen,
                stream: streams[stream]
            )
            found = devices.span[device].cycleInOrder(line, lifetimes)
        }
        let opened = found == nil && mayOpen ? openCycle(for: message, idHash, due, device, stream) : nil
        guard var cycleIndex = found ?? opened else { return nil }
        var hasChanged = false
        if idHash != 0, devices[device].cycles[cycleIndex].idHash == 0 {
            devices[device].cycles[cycleIndex].id = id.isEmpty ? devices[device].id(of: idHash) : id
            devices[device].cycles[cycleIndex].idHash = idHash
            hasChanged = true
        }
        if let due, devices[device].cycles[cycleIndex].due == nil {
            devices[device].cycles[cycleIndex].due = due
            hasChanged = true
        }
        if hasChanged { cycleIndex = mergeTwin(cycleIndex, device) }
        streams[stream][phase] = devices[device].cycles[cycleIndex].serial
        if phase != .delivery || message.form.kind == .notificationDelivered {
            streams[stream].isBackInDelivered = false
        } else if idHash != 0 || due != nil {
            streams[stream].isBackInDelivered = devices[device].cycles[cycleIndex].isDelivered
        }
        if phase == .summary || phase == .delivery {
            streams[stream].phase = .delivery
        } else {
            streams[stream].phase = phase
        }
        return cycleIndex
    }

    /// The phase of a line: its rule's, except for lines that are written in two phases.
    private func phase(of message: LogMessage, in stream: LogStream) -> LogRule.Phase {
        if message.form.kind == .contentCacheFailed, stream.phase == .delivery { return .delivery }
        return message.form.phase
    }

    // MARK: By schedule id

    private func cycleNamed(
        _ idHash: UInt64,
        _ due: Timestamp?,
        _ phase: LogRule.Phase,
        _ context: Int?,
        _ device: Int,
        _ stream: Int,
        _ time: Timestamp?
    ) -> Int? {
        let process = streams[stream].process
        if due == nil, phase == .delivery || phase == .summary,
            let pass = devices.span[device].nearestPass(idHash, process, time, lifetimes)
        {
            return pass
        }
        var current = context
        if phase == .delivery, let context, devices[device].cycles[context].isDelivered { current = nil }
        if let current, devices[device].cycles[current].idHash == idHash, agrees(device, current, due) {
            return current
        }
        let sameId =
            sameSchedule(idHash, due, device) { $0 == process }
            ?? sameSchedule(idHash, due, device) {
                phase != .scheduling || !lifetimes.overlap(device: devices[device].name, $0, process)
            }
        if let sameId {
            // The delivered pass of another day gives way to the cycle that is being delivered.
            if phase == .delivery, devices[device].cycles[sameId].isDelivered, let current,
                devices[device].cycles[current].idHash == 0, devices[device].cycles[current].due != nil
            {
                return current
            }
            return sameId
        }
        if let current, devices[device].cycles[current].idHash == 0, agrees(device, current, due) { return current }
        guard let due else {
            return phase == .delivery || phase == .summary ? devices.span[device].cycleToName(process, time) : nil
        }
        return devices[device].lastIndex { $0.idHash == 0 && $0.due == due && $0.process == process }
            ?? devices[device].lastIndex { $0.idHash == 0 && $0.due == due }
    }

    /// The cycle of a schedule: with this notification time, else an undelivered one, else the last one.
    ///
    /// - Parameter isEligible: whether a process may have opened it.
    private func sameSchedule(
        _ idHash: UInt64,
        _ due: Timestamp?,
        _ device: Int,
        _ isEligible: (UInt64) -> Bool
    ) -> Int? {
        var undelivered: Int?
        var last: Int?
        for index in devices[device].cycles.indices.reversed() {
            guard devices[device].cycles[index].idHash == idHash, agrees(device, index, due),
                isEligible(devices[device].cycles[index].process)
            else { continue }
            if due != nil, devices[device].cycles[index].due == due { return index }
            last = last ?? index
            if !devices[device].cycles[index].progress.contains(.delivered) { undelivered = undelivered ?? index }
            if due == nil, undelivered != nil { break }
        }
        return undelivered ?? last
    }

    private func agrees(_ device: Int, _ index: Int, _ due: Timestamp?) -> Bool {
        let known = devices[device].cycles[index].due
        return known == nil || due == nil || known == due
    }

    // MARK: By notification time

    private func cycleDue(
        _ due: Timestamp,
        _ phase: LogRule.Phase,
        _ context: Int?,
        _ device: Int,
        _ stream: Int
    ) -> Int? {
        let process = streams[stream].process
        if let context, devices[device].cycles[context].due == due { return context }
        if let own = devices[device].lastIndex(where: { $0.due == due && $0.process == process }) { return own }
        if phase != .scheduling {
            let other =
                devices[device].lastIndex { $0.due == due && $0.isWaiting }
                ?? devices[device].lastIndex { $0.due == due }
            if let other { return other }
        }
        if let context, devices[device].cycles[context].due == nil, mayBeDue(devices[device].cycles[context], at: due) {
            return context
        }
        guard phase != .scheduling else { return nil }
        return devices[device].lastIndex { $0.due == nil && $0.isWaiting && self.mayBeDue($0, at: due) }
            ?? (phase == .delivery ? devices.span[device].runToName(dueAt: due, process, lifetimes) : nil)
    }

    /// The cycle that its stream runs, for a result that names another notification time, which no schedule has: the plugin
    /// tells a wrong one (docs/judging.md, schedule_time_differs).
    private func executing(_ message: LogMessage, _ due: Timestamp, _ context: Int?, _ device: Int) -> Int? {
        guard let context, message.form.kind == .prefetchSuccess || message.form.kind == .prefetchFailure else {
            return nil
        }
        let cycle = devices[device].cycles[context]
        guard let planned = cycle.due, cycle.progress.contains(.executed),
            cycle.progress.isDisjoint(with: [.ended, .delivered]),
            planned.distance(to: due) < Self.otherTimeMicroseconds
        else { return nil }
        return context
    }

    /// Whether a cycle without a notification time may have this one: its task must begin within the day before.
    private func mayBeDue(_ cycle: KnownCycle, at due: Timestamp) -> Bool {
        guard let begin = cycle.begin else { return !cycle.isDelivered }
        return begin <= due && due.microseconds - begin.microseconds <= 86_400_000_000
    }

    // MARK: Opening and merging

    private mutating func openCycle(
        for message: LogMessage,
        _ idHash: UInt64,
        _ due: Timestamp?,
        _ device: Int,
        _ stream: Int
    ) -> Int? {
        if idHash == 0, due == nil {
            switch message.form.meaning {
            case .event(.leadCapped): break
            case .event(let kind) where kind.belongsToCycle && kind != .schedulePersisted: break
            case .cycle where message.begin != nil: break
            default: return nil
            }
        }
        let process = streams[stream].process
        let cycleIndex = devices[device].open(process: process)
        devices[device].cycles[cycleIndex].due = due
        if lifetimes.overlapsAnother(device: devices[device].name, process) {
            devices[device].cycles[cycleIndex].progress.insert(.concurrent)
            doubts.insert(.processes)
        }
        return cycleIndex
    }

    /// Merges a cycle that has just got its id or due time with another one of the same identity.
    private mutating func mergeTwin(_ cycleIndex: Int, _ device: Int) -> Int {
        let cycle = devices[device].cycles[cycleIndex]
        guard cycle.idHash != 0 else { return cycleIndex }
        let twin = devices[device].cycles.indices.last { other in
            other != cycleIndex && devices[device].cycles[other].idHash == cycle.idHash
                && devices[device].cycles[other].due == cycle.due
                && !lifetimes.overlap(
                    device: devices[device].name,
                    devices[device].cycles[other].process,
                    cycle.process
                )
        }
        guard let twin else { return cycleIndex }
        let kept = min(cycleIndex, twin)
        let dropped = max(cycleIndex, twin)
        let lost = devices[device].cycles[dropped]
        devices[device].cycles[kept].progress.formUnion(lost.progress)
        devices[device].cycles[kept].begin = lost.begin ?? devices[device].cycles[kept].begin
        devices[device].cycles[kept].seen = lost.seen ?? devices[device].cycles[kept].seen
        let serial = devices[device].cycles[kept].serial
        for index in devices[device].held.indices where devices[device].held[index].cycle == lost.serial {
            devices[device].held[index].cycle = serial
        }
        drop(dropped, of: device, replacedBy: serial)
        return kept
    }

    /// Removes a cycle; the streams that were in it are in another one.
    mutating func drop(_ cycleIndex: Int, of device: Int, replacedBy serial: UInt32) {
        let dropped = devices[device].cycles.remove(at: cycleIndex).serial
        let name = devices[device].name
        for index in streams.indices where streams[index].device == name {
            streams[index].replace(dropped, by: serial)
        }
    }

    func stream(device: UInt64, process: UInt64) -> Int? {
        if lastStream < streams.count, streams[lastStream].device == device, streams[lastStream].process == process {
            return lastStream
        }
        return streams.firstIndex { $0.device == device && $0.process == process }
    }

    mutating func use(_ stream: Int) -> Int {
        lastStream = stream
        streams[stream].usedAt = lineCount
        return stream
    }

    /// Names the only device, which was anonymous so far.
    mutating func nameOnlyDevice(_ name: UInt64, _ installation: Pseudonym) {
        devices[0].name = name
        devices[0].installation = installation
        for index in streams.indices { streams[index].device = name }
    }

    func device(ofStream stream: Int) -> Int {
        if devices.count == 1 { return 0 }
        let name = streams[stream].device
        return devices.firstIndex { $0.name == name } ?? 0
    }

    /// Opens a stream and evicts the least recently used one if there are too many.
    mutating func openStream(device: UInt64, process: UInt64) -> Int {
        if streams.count >= Self.maximumStreams,
            let oldest = streams.indices.min(by: { streams[$0].usedAt < streams[$1].usedAt })
        {
            streams.remove(at: oldest)
        }
        streams.append(LogStream(device: device, process: process))
        return streams.count - 1
    }

    /// Moves what is known of a process from the anonymous device to a device that its later lines name.
    mutating func move(process: UInt64, to name: UInt64, _ installation: Pseudonym?) {
        guard let old = devices.firstIndex(where: { $0.name == 0 }) else { return }
        let isOwn = streams.contains { $0.device == 0 && $0.process == process }
        guard isOwn, !devices.contains(where: { $0.name == name }) else { return }
        var device = LogDevice(name: name, installation: installation)
        device.lastSerial = devices[old].lastSerial
        device.cycles = devices[old].cycles.filter { $0.process == process }
        device.held = devices[old].held.filter { $0.process == process }
        devices[old].cycles.removeAll { $0.process == process }
        devices[old].held.removeAll { $0.process == process }
        for index in streams.indices where streams[index].device == 0 && streams[index].process == process {
            streams[index].device = name
        }
        devices.append(device)
        if !streams.contains(where: { $0.device == 0 }), devices[old].held.isEmpty { devices.remove(at: old) }
    }

    mutating func dropDevice(_ index: Int) {
        let name = devices[index].name
        devices.remove(at: index)
        streams.removeAll { $0.device == name }
        lastStream = 0
    }
}
