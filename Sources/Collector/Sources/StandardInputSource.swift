// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import Logging
internal import NIOPosix

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Standard input as a source of lines, read until its end; reading waits while the ledger stores.
struct StandardInputSource: Sendable {
    private enum Piece: Sendable {
        case bytes([UInt8])
        case nothingYet
        case end
        case failure(Int32)
    }

    private static let pieceBytes = 1 << 20
    private static let waitMilliseconds: Int32 = 200

    let threads: NIOThreadPool
    let log: Logger

    func run(_ intake: consuming LogIntake<FilePosition>, stop: SourceStop) async {
        var intake = intake
        var cutter = LineCutter()
        do throws(IntakeEnded) {
            reading: while !stop.isRequested {
                let piece = (try? await threads.runIfActive { Self.read() }) ?? .end
                switch piece {
                case .bytes(let bytes):
                    var lines: [UInt8] = []
                    cutter.cut(bytes, into: &lines)
                    try await intake.take(lines, bytesRead: bytes.count)
                case .nothingYet: try await intake.idle()
                case .end:
                    log.notice("standard input has ended; the service goes on")
                    break reading
                case .failure(let code):
                    log.error(
                        "cannot read standard input: \(unsafe String(cString: strerror(code))); it is not read any more"
                    )
                    break reading
                }
            }
            var last: [UInt8] = []
            cutter.finish(into: &last)
            if !last.isEmpty { try await intake.take(last, bytesRead: last.count) }
            try await intake.end()
        } catch {
            log.warning("the last lines of standard input were not stored: the service stops")
        }
    }

    /// Reads what is available up to a limit, and waits briefly while nothing is.
    private static func read() -> Piece {
        guard isReadable(within: waitMilliseconds) else { return .nothingYet }
        var failure: Int32 = 0
        var hasEnded = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: pieceBytes) { buffer, count in
            repeat {
                let got = unsafe Glibc.read(
                    STDIN_FILENO,
                    buffer.baseAddress?.advanced(by: count),
                    buffer.count - count
                )
                if got < 0 {
                    if errno != EINTR, errno != EAGAIN { failure = errno }
                    break
                }
                if got == 0 {
                    hasEnded = true
                    break
                }
                count += got
            } while count < buffer.count && isReadable(within: 0)
        }
        if !bytes.isEmpty { return .bytes(bytes) }
        if failure != 0 { return .failure(failure) }
        return hasEnded ? .end : .nothingYet
    }

    private static func isReadable(within milliseconds: Int32) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&input, 1, milliseconds) > 0
    }
}
