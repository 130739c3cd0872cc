// SPDX-License-Identifier: Apache-2.0

/// How a log is read.
public struct LogDecoderOptions: Sendable {
    /// The form in which the lines are wrapped; nil: told apart line by line.
    public var wrapper: LogWrapper?
    /// The zone of stamps that name none.
    public var zone: ZoneOffsets
    /// Whether lines are read as they are written, so that a line without a stamp happened when it was read.
    public var isLive: Bool
    /// What stands for the installation of lines and events that name none, where all come from one device; nil: what the
    /// lines tell of their devices.
    public var installation: Pseudonym?
    /// Whether the identities of events are told; without them a log is read faster.
    public var identifies = true
    /// Whether the lines of events without a time are told.
    public var tellsUntimedLines = false
    /// How many unrecognised lines are kept, for people to look at.
    public var unrecognisedLimit = 0

    /// Makes options for a log that is told apart by itself.
    public init(wrapper: LogWrapper? = nil, zone: ZoneOffsets = .utc, isLive: Bool = false) {
        self.wrapper = wrapper
        self.zone = zone
        self.isLive = isLive
    }
}
