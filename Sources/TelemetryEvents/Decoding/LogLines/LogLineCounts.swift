// SPDX-License-Identifier: Apache-2.0

/// How many lines there were: `read = recognised + foreign + unrecognised`.
public struct LogLineCounts: Hashable, Sendable {
    /// All lines.
    public var read: UInt64 = 0
    /// Lines of a known form, and readable events.
    public var recognised: UInt64 = 0
    /// Lines that are not the plugin's.
    public var foreign: UInt64 = 0
    /// Lines of the plugin that no rule matches, and events that cannot be read.
    public var unrecognised: UInt64 = 0

    /// Counts at zero.
    public init() {}

    /// Adds counts.
    public static func += (left: inout LogLineCounts, right: LogLineCounts) {
        left.read += right.read
        left.recognised += right.recognised
        left.foreign += right.foreign
        left.unrecognised += right.unrecognised
    }
}

/// A line of the plugin that no rule matches.
public struct UnrecognisedLine: Hashable, Sendable {
    /// The longest text that is kept, in bytes.
    public static let maximumText = 200

    /// Its number, from 1.
    public var number: UInt64
    /// Its text, cut, and without anything personal (SPEC 4.7).
    public var text: String
    /// Why, in words.
    public var problem: String
}
