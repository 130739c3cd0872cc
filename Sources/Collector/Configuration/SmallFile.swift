// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// Reads small files of an operator or the service manager as a whole, up to a limit.
enum SmallFile {
    /// Why it cannot be read; never its content.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    /// The bytes of a regular file. It never blocks: a pipe, a socket or a device is refused.
    static func read(_ path: String, maximumSize: Int) throws(Failure) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw Failure(description: sentence(for: errno)) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw Failure(description: sentence(for: errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw Failure(description: "it is a directory")
        default: throw Failure(description: "it is no regular file")
        }
        var bytes = [UInt8](repeating: 0, count: min(maximumSize + 1, max(Int(status.st_size), 0) + 1))
        var count = 0
        while count < bytes.count {
            let room = count..<bytes.count
            let read = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(file, $0.baseAddress?.advanced(by: room.lowerBound), room.count)
            }
            if read == 0 { break }
            if read > 0 {
                count += read
            } else if errno != EINTR {
                throw Failure(description: sentence(for: errno))
            }
        }
        guard count <= maximumSize else {
            throw Failure(description: "expected at most \(maximumSize) bytes, found more")
        }
        return Array(bytes[..<count])
    }

    private static func sentence(for number: Int32) -> String {
        switch number {
        case ENOENT: "there is no such file"
        case EACCES, EPERM: "permission to read it is denied"
        default: unsafe "it cannot be read: \(String(cString: strerror(number)))"
        }
    }
}

/// The identity of a file regardless of its name: device and inode (stat(2)).
struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
}
