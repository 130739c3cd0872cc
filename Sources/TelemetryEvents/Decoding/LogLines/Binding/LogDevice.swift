// SPDX-License-Identifier: Apache-2.0

/// What the lines of one device have told: its cycles, and the events that wait.
struct LogDevice {
    /// The most cycles that are remembered; older ones are past.
    static let maximumCycles = 32
    /// The most events that wait.
    static let maximumHeld = 64

    /// Hash of the name.
    var name: UInt64
    /// What stands for the device in events; nil where the wrapper names none.
    var installation: Pseudonym?
    var cycles: [KnownCycle] = []
    var held: [HeldEvent] = []
    var usedAt: UInt64 = 0
    var lastSerial: UInt32 = 0

    init(name: UInt64, installation: Pseudonym?) {
        self.name = name
        self.installation = installation
    }

    /// The place of a cycle; the newest stand last and are looked at first.
    func index(of serial: UInt32) -> Int? {
        guard serial != 0 else { return nil }
        return lastIndex { $0.serial == serial }
    }

    func lastIndex(where isWanted: (KnownCycle) -> Bool) -> Int? {
        var index = cycles.count - 1
        while index >= 0 {
            if isWanted(cycles[index]) { return index }
            index -= 1
        }
        return nil
    }

    mutating func open(process: UInt64) -> Int {
        lastSerial &+= 1
        if lastSerial == 0 { lastSerial = 1 }
        cycles.append(KnownCycle(serial: lastSerial, process: process))
        return cycles.count - 1
    }
}
