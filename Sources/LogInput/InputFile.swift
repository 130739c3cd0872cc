// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TextOutput

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system call, which methods named `read` would shadow.
private func readOnce(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    unsafe read(descriptor, buffer.baseAddress, buffer.count)
}

/// An open input: a file, a pipe, standard input, or bytes in memory.
package struct InputFile: ~Copyable {
    package static let standardInput = "-"
    private static let nameOfStandardInput = "standard input"
    /// The name for messages.
    package let name: String
    /// The size in bytes; nil where it is not known, as of a pipe.
    package let size: Int?
    /// Whether it can be read only once: a pipe, a socket or a terminal.
    package let isStream: Bool
    private let descriptor: Int32
    private let isOwned: Bool
    private let interruption: Interruption?
    /// What is read in place of the descriptor.
    private let memory: UnreadBytes?

    /// Bytes that are in memory already, read as standard input would be.
    package init(_ bytes: [UInt8]) {
        descriptor = -1
        isOwned = false
        name = Self.nameOfStandardInput
        size = bytes.isEmpty ? nil : bytes.count
        isStream = false
        interruption = nil
        memory = UnreadBytes(bytes)
    }

    /// - Parameters:
    ///   - path: the file's path; `-` for standard input.
    ///   - interruption: ends standard input early, as if it ended there.
    package init(_ path: String, interruption: Interruption? = nil) throws(InputError) {
        let isNamed = path != Self.standardInput
        let descriptor = isNamed ? try Self.opened(path) : STDIN_FILENO
        self.descriptor = descriptor
        isOwned = isNamed
        name = isNamed ? path : Self.nameOfStandardInput
        memory = nil
        size = Self.remainingBytes(of: descriptor)
        isStream = lseek(descriptor, 0, SEEK_CUR) < 0
        self.interruption = isNamed ? nil : interruption
    }

    private static func opened(_ path: String) throws(InputError) -> Int32 {
        let directory = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        if directory >= 0 {
            close(directory)
            throw InputError(
                input: path,
                problem: path.hasSuffix(".logarchive")
                    ? "it is a directory; run `log show --archive \(path) --style ndjson | dnp-telemetry validate -`"
                    : "it is a directory; name the files in it"
            )
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw InputError(input: path, problem: sentence(for: errno)) }
        return descriptor
    }

    /// The bytes from the current offset to the end; nil where that is not known.
    private static func remainingBytes(of descriptor: Int32) -> Int? {
        let here = lseek(descriptor, 0, SEEK_CUR)
        guard here >= 0 else { return nil }
        let end = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, here, SEEK_SET)
        return end > here ? end - here : nil
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Reads what is available, at most what the buffer holds; 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if let memory { return unsafe memory.read(into: buffer) }
        while true {
            guard isReadable() else { return 0 }
            let count = unsafe readOnce(descriptor, buffer)
            if count >= 0 { return count }
            if errno != EINTR { throw InputError(input: name, problem: Self.sentence(for: errno)) }
        }
    }

    /// Waits for bytes or the end; false after the timeout.
    package borrowing func wait(milliseconds: Int32) -> Bool {
        if memory != nil { return true }
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
    }

    /// Waits for bytes of an interruptible input; false once it is interrupted.
    ///
    /// It polls, because the signal may be delivered to another thread, which does not wake this one.
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

/// Bytes with a position, for the one thread that reads them.
private final class UnreadBytes {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - position)
        unsafe buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
}

extension InputFile {
    /// Whether the file can be opened more than once. A pipe gives its content once, and opening it blocks until it has
    /// a writer.
    package static func isReadTheSameTwice(_ path: String) -> Bool {
        guard path != standardInput else { return true }
        // A missing file is reported when it is opened; links that only the kernel resolves lead to pipes.
        guard let resolved = unsafe realpath(path, nil) else { return unsafe access(path, F_OK) != 0 }
        defer { unsafe free(resolved) }
        let attributes = try? unsafe FileManager.default.attributesOfItem(atPath: String(cString: resolved))
        let type = attributes?[.type] as? FileAttributeType
        return type != .typeUnknown && type != .typeSocket && type != .typeCharacterSpecial
    }
}

/// An input that cannot be read, as a sentence for the user.
package struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The input as the user named it.
    package let input: String
    /// What is wrong, and what to do.
    package let problem: String
    /// The limit that it is over; nil where something else is wrong.
    package let limit: InputLimits.Limit?

    package init(input: String, problem: String, limit: InputLimits.Limit? = nil) {
        self.input = input
        self.problem = problem
        self.limit = limit
    }

    /// The input and its problem.
    package var description: String { "\(PlainText.line(input)): \(problem)" }
}

/// Ends a live input at the first Ctrl-C (SIGINT), so that what was read is still judged.
///
/// The second Ctrl-C ends the process.
package struct Interruption: Sendable {
    /// The polling interval in milliseconds.
    package static let interval: Int32 = 100
    private static let raised = Atomic(false)

    /// Installs the signal handler.
    package init() {
        Self.raised.store(false, ordering: .relaxed)
        var action = sigaction()
        let handler: @convention(c) (Int32) -> Void = { _ in Interruption.raised.store(true, ordering: .relaxed) }
        #if canImport(Glibc)
            unsafe action.__sigaction_handler.sa_handler = handler
        #else
            unsafe action.__sigaction_u.__sa_handler = handler
        #endif
        action.sa_flags = Int32(truncatingIfNeeded: SA_RESETHAND)
        unsafe sigaction(SIGINT, &action, nil)
    }

    package var isRaised: Bool { Self.raised.load(ordering: .relaxed) }
}
