// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LogInput

/// Writes lines to a descriptor, such as a pipe whose reader may be slow or go away.
struct LineOutput {
    /// What became of the output.
    enum End: Hashable {
        /// The reader has gone away.
        case closed
        case interrupted
        case failed(errno: Int32)
    }

    /// How many bytes are gathered before they are written.
    private static let bufferBytes = 256 << 10
    /// How long one look at a full pipe takes, in milliseconds.
    private static let interval: Int32 = 100

    private let descriptor: Int32
    private let interruption: Interruption?
    private(set) var end: End?
    /// The lines that are not written yet.
    var buffer: [UInt8] = []

    init(_ descriptor: Int32, interruption: Interruption?) {
        self.descriptor = descriptor
        self.interruption = interruption
        buffer.reserveCapacity(Self.bufferBytes + 4_096)
    }

    /// Writes what was gathered once it is worth it; false when no more can be written.
    mutating func settle() -> Bool {
        if interruption?.isRaised == true {
            flush()
            end = end ?? .interrupted
        }
        guard end == nil else { return false }
        if buffer.count >= Self.bufferBytes { flush() }
        return end == nil
    }

    /// Writes what was gathered, in pieces that a pipe takes whole once it takes anything (PIPE_BUF), so that an
    /// interruption is seen while a reader is slow.
    mutating func flush() {
        guard end == nil else { return }
        end = unsafe buffer.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let ready = unsafe poll(&output, 1, Self.interval)
                if ready == 0 || (ready < 0 && errno == EINTR) {
                    if interruption?.isRaised == true { return .interrupted }
                    continue
                }
                let piece = min(bytes.count - offset, Int(PIPE_BUF))
                let count = unsafe write(descriptor, bytes.baseAddress?.advanced(by: offset), piece)
                if count < 0 {
                    if errno == EINTR || errno == EAGAIN { continue }
                    return errno == EPIPE ? .closed : .failed(errno: errno)
                }
                offset += count
            }
            return nil
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
