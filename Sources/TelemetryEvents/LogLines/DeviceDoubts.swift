// SPDX-License-Identifier: Apache-2.0

/// What speaks against lines that name no installation being those of one device (docs/log-sources.md).
public struct DeviceDoubts: OptionSet, Hashable, Sendable {
    /// The raw bits.
    public let rawValue: UInt8

    /// Creates doubts from raw bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One attempt has a success and a failure that was not retried.
    public static let results = DeviceDoubts(rawValue: 1 << 0)
    /// Two processes wrote at once.
    public static let processes = DeviceDoubts(rawValue: 1 << 1)
    /// Lines that were not read before are stamped a minute or more before earlier ones, in the time that those cover.
    public static let stamps = DeviceDoubts(rawValue: 1 << 2)
}

extension DeviceDoubts: CustomStringConvertible {
    /// The doubts in words, such as "two process ids at once and stamps that overlap".
    public var description: String {
        let words = [
            (DeviceDoubts.results, "two different results of one attempt"), (.processes, "two process ids at once"),
            (.stamps, "stamps that overlap"),
        ].filter { contains($0.0) }.map(\.1)
        guard words.count > 1, let last = words.last else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}

/// The times that the stamps of one device's lines cover.
struct StampedSpan {
    /// How far back a stamp may lie without a doubt, in microseconds: buffers are written out of order.
    private static let tolerance: Int64 = 60_000_000

    private var first: Int64?
    private var latest = Int64.min
    /// Whether the stamps say their offset; stamps that do not are not compared with those that do.
    private var hasOffset = false

    /// Adds a stamp.
    ///
    /// - Returns: whether it lies in the time that earlier lines cover.
    mutating func add(_ stamp: LogStamp) -> Bool {
        let time = stamp.wallMicroseconds &- Int64(stamp.offsetSeconds ?? 0) &* 1_000_000
        guard let first else {
            first = time
            latest = time
            hasOffset = stamp.offsetSeconds != nil
            return false
        }
        guard hasOffset == (stamp.offsetSeconds != nil) else { return false }
        if time >= latest {
            latest = time
            return false
        }
        return time >= first && latest &- time >= Self.tolerance
    }
}
