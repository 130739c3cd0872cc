// SPDX-License-Identifier: Apache-2.0

/// A cycle that the lines of a device have told of.
struct KnownCycle {
    struct Progress: OptionSet {
        var rawValue: UInt8
        static let scheduled = Progress(rawValue: 1 << 0)
        static let executed = Progress(rawValue: 1 << 1)
        static let ended = Progress(rawValue: 1 << 2)
        static let delivered = Progress(rawValue: 1 << 3)
        /// Its events no longer wait for a schedule id.
        static let released = Progress(rawValue: 1 << 4)
        static let missed = Progress(rawValue: 1 << 5)
        /// Other processes of the device live beside the one that told of it.
        static let apart = Progress(rawValue: 1 << 6)
    }

    /// Tells it from the others of its device.
    let serial: UInt32
    /// The process whose line told of it first.
    let process: UInt64
    /// The keyed hash of the schedule id as the lines have it; 0 while none is known.
    var idHash: UInt64 = 0
    /// The schedule id as it may be stored.
    var id: [UInt8] = []
    /// When the notification is due.
    var due: Timestamp?
    /// The earliest time of the task.
    var begin: Timestamp?
    var progress: Progress = []

    var isWaiting: Bool { progress.contains(.scheduled) && progress.isDisjoint(with: [.executed, .delivered]) }
    var isDelivered: Bool { progress.contains(.delivered) }
    /// By what the cycles of a device stand in order.
    var order: Timestamp { due ?? begin ?? Timestamp(microseconds: .max) }

    func distance(to time: Timestamp) -> UInt64 {
        (due ?? begin)?.distance(to: time) ?? .max
    }
}
