// SPDX-License-Identifier: Apache-2.0

/// The record that carried some lines of a log, such as a journal entry, with its metadata.
public struct LineCarrier: Hashable, Sendable {
    /// The end of its lines in the decoded bytes; they begin where the previous carrier's lines end.
    public var end: Int
    /// When it was written: the time of lines without a stamp of their own.
    public var writtenAt: Timestamp
    /// Identifies its stream, for lines without a process id; 0 for none.
    public var stream: UInt64
    /// The name of its device, for lines that name none; empty for none.
    public var device: [UInt8]
    /// Whether the device is that of the lines that name another one, too; otherwise it is the stream's own.
    public var namesDevice = false
    /// The name of the program that wrote it, which tells whose lines without a marker are; empty for none.
    public var program: [UInt8] = []

    /// Creates a carrier.
    public init(end: Int, writtenAt: Timestamp, stream: UInt64, device: [UInt8] = []) {
        self.end = end
        self.writtenAt = writtenAt
        self.stream = stream
        self.device = device
    }

    var stamp: LogStamp { LogStamp(wallMicroseconds: writtenAt.microseconds, offsetSeconds: 0) }
}
