// SPDX-License-Identifier: Apache-2.0

/// What carried some lines of a log, such as an entry of the journal, and what it tells about them.
public struct LineCarrier: Hashable, Sendable {
    /// Where its lines end in the bytes that are decoded; they begin where those of the carrier before it end.
    public var end: Int
    /// When it was written, which is the time of its lines that tell none themselves.
    public var writtenAt: Timestamp
    /// Tells its stream from others, for lines that name no process; 0 for none.
    public var stream: UInt64

    /// Makes a carrier.
    public init(end: Int, writtenAt: Timestamp, stream: UInt64) {
        self.end = end
        self.writtenAt = writtenAt
        self.stream = stream
    }

    var stamp: LogStamp { LogStamp(wallMicroseconds: writtenAt.microseconds, offsetSeconds: 0) }
}
