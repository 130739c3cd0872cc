// SPDX-License-Identifier: Apache-2.0

extension LogBinder {
    /// The stream that a line belongs to; a line that names neither device nor process nor time belongs to the last one.
    mutating func stream(of parsed: ParsedMessage, _ bytes: Span<UInt8>) -> Int {
        binding.lineCount += 1
        if parsed.device == 0, parsed.process == 0, parsed.stamp == nil, !binding.streams.isEmpty {
            return binding.use(binding.lastStream)
        }
        let name = device(named: parsed.device, bytes, parsed.deviceName)
        if let known = binding.stream(device: name, process: parsed.process) { return binding.use(known) }
        if !binding.devices.contains(where: { $0.name == name }) {
            let installation =
                name == 0 ? nil : devices.pseudonym(of: bytes, parsed.deviceName, pseudonyms)
            openDevice(LogDevice(name: name, installation: installation))
        }
        return binding.use(binding.openStream(device: name, process: parsed.process))
    }

    /// The device that a line is of: one without a name is the one that other lines name, as long as they name only one.
    private mutating func device(named name: UInt64, _ bytes: Span<UInt8>, _ text: Event.Text) -> UInt64 {
        guard binding.devices.count == 1 else { return name }
        if name == 0 { return binding.devices[0].name }
        if binding.devices[0].name == 0 {
            binding.nameOnlyDevice(name, devices.pseudonym(of: bytes, text, pseudonyms))
        }
        return name
    }

    private mutating func openDevice(_ device: LogDevice) {
        if binding.devices.count >= LogBinding.maximumDevices {
            let oldest = binding.devices.indices.min { binding.devices[$0].usedAt < binding.devices[$1].usedAt } ?? 0
            releaseAll(oldest)
            binding.dropDevice(oldest)
        }
        binding.devices.append(device)
    }
}

extension LogBinding {
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

    /// Gives the only device the name that was missing.
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

    /// Opens a stream in place of the one that was not used for longest when there are too many.
    mutating func openStream(device: UInt64, process: UInt64) -> Int {
        if streams.count >= Self.maximumStreams,
            let oldest = streams.indices.min(by: { streams[$0].usedAt < streams[$1].usedAt })
        {
            streams.remove(at: oldest)
        }
        streams.append(LogStream(device: device, process: process))
        return streams.count - 1
    }

    mutating func dropDevice(_ index: Int) {
        let name = devices[index].name
        devices.remove(at: index)
        streams.removeAll { $0.device == name }
        lastStream = 0
    }
}
