// SPDX-License-Identifier: Apache-2.0

/// The device and the stream of each line, and the installation of its event.
extension LogBinder {
    /// The stream of a line; a line without device, process and stamp belongs to the last stream.
    mutating func stream(of parsed: ParsedMessage, _ bytes: Span<UInt8>) -> Int {
        binding.lineCount += 1
        if parsed.device == 0, parsed.process == 0, parsed.stamp == nil, !binding.streams.isEmpty {
            return binding.use(binding.lastStream)
        }
        let name = device(of: parsed, bytes)
        if let known = binding.stream(device: name, process: parsed.process) { return binding.use(known) }
        if !binding.devices.contains(where: { $0.name == name }) {
            let installation =
                name == 0 ? nil : devices.pseudonym(of: bytes, parsed.deviceName, pseudonyms)
            openDevice(LogDevice(name: name, installation: installation))
        }
        return binding.use(binding.openStream(device: name, process: parsed.process))
    }

    /// The device of a line; a line without one belongs to the only named device, if there is just one.
    private mutating func device(of parsed: ParsedMessage, _ bytes: Span<UInt8>) -> UInt64 {
        let name = parsed.device
        if parsed.isDeviceOfStream {
            if binding.devices.contains(where: { $0.name == 0 }) {
                binding.move(
                    process: parsed.process,
                    to: name,
                    devices.pseudonym(of: bytes, parsed.deviceName, pseudonyms)
                )
            }
            return name
        }
        guard binding.devices.count == 1 else { return name }
        if name == 0 { return binding.devices[0].name }
        if binding.devices[0].name == 0, !options.isOneDevice {
            binding.nameOnlyDevice(name, devices.pseudonym(of: bytes, parsed.deviceName, pseudonyms))
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

    // MARK: Installations

    /// The pseudonym of an event's device: the one that the first event of its cycle had.
    mutating func installation(_ cycleIndex: Int?, _ device: Int) -> Pseudonym? {
        if let installation = options.installation { return installation }
        guard let cycleIndex else { return installation(of: nil, device, in: options.source) }
        if case .decided(let installation) = binding.devices[device].cycles[cycleIndex].installation {
            return installation
        }
        let cycle = binding.devices[device].cycles[cycleIndex]
        let installation = installation(of: cycle, device, in: options.source)
        binding.devices[device].cycles[cycleIndex].installation = .decided(installation)
        return installation
    }

    /// The pseudonym of a device, or of one of several processes that run on it concurrently.
    private func installation(of cycle: KnownCycle?, _ device: Int, in source: Pseudonym?) -> Pseudonym? {
        if let cycle, cycle.progress.contains(.concurrent) {
            return identityKey.process(cycle.process, of: binding.devices[device].name, in: source)
        }
        guard let named = binding.devices[device].installation else { return source }
        return source.map { identityKey.device(named, in: $0) } ?? named
    }

    /// Decides the installations of all known cycles, as versions did that did not save them.
    ///
    /// - Parameter hasSources: whether sources were devices of their own.
    mutating func decideInstallations(hasSources: Bool) {
        for device in binding.devices.indices {
            for index in binding.devices[device].cycles.indices {
                let cycle = binding.devices[device].cycles[index]
                let isOfSource = hasSources && !cycle.progress.contains(.withoutSource)
                let installation = installation(of: cycle, device, in: isOfSource ? options.source : nil)
                binding.devices[device].cycles[index].installation = .decided(installation)
                binding.devices[device].cycles[index].progress.remove(.withoutSource)
            }
        }
    }
}
