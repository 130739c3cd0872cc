// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to either of the two, depending on which it has met first.
internal import CDispatch
internal import Glibc

/// An open input: a file, a pipe or standard input.
struct InputFile: ~Copyable {
    private static let standardInput = "-"
    /// As it is named in messages.
    let name: String
    /// Its size where it is a regular file.
    let size: Int?
    private let descriptor: Int32
    private let isOwned: Bool
    private let interruption: Interruption?

    /// - Parameters:
    ///   - path: the file's path; `-` for standard input.
    ///   - interruption: what ends standard input early, as if it ended there.
    init(_ path: String, interruption: Interruption? = nil) throws(InputError) {
        isOwned = path != Self.standardInput
        name = isOwned ? path : "standard input"
        self.interruption = isOwned ? nil : interruption
        if isOwned {
            descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { throw InputError(input: name, problem: Self.sentence(for: errno)) }
        } else {
            descriptor = STDIN_FILENO
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw InputError(input: name, problem: Self.sentence(for: errno))
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            if isOwned { close(descriptor) }
            throw InputError(
                input: name,
                problem: "it is a directory; name a file in it, and for a .logarchive run "
                    + "`log show --archive \(name) --style ndjson | dnp-telemetry validate -`"
            )
        }
        size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Reads what there is, at most what the buffer holds; 0 at the end.
    borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            guard isReadable() else { return 0 }
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw InputError(input: name, problem: Self.sentence(for: errno)) }
        }
    }

    /// Waits for bytes where the input may be interrupted; false once it is.
    ///
    /// The signal may come to another thread, which does not wake this one.
    private borrowing func isReadable() -> Bool {
        guard let interruption else { return true }
        while !interruption.isRaised {
            var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&descriptor, 1, Interruption.interval) != 0 { return true }
        }
        return false
    }

    private static func sentence(for number: Int32) -> String {
        switch number {
        case ENOENT: "there is no such file"
        case EACCES, EPERM: "permission to read it is denied"
        case EISDIR: "it is a directory; name a file in it"
        case EBADF: "it is closed"
        default: unsafe "it cannot be read: \(String(cString: strerror(number)))"
        }
    }
}
