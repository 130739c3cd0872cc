// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TextOutput

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An open input: a file, a pipe or standard input.
package struct InputFile: ~Copyable {
    package static let standardInput = "-"
    /// As it is named in messages.
    package let name: String
    /// How many bytes it holds, where that is known.
    package let size: Int?
    /// Whether it gives its content once, as it comes: a pipe, a socket or a terminal.
    package let isStream: Bool
    private let descriptor: Int32
    private let isOwned: Bool
    private let interruption: Interruption?

    /// - Parameters:
    ///   - path: the file's path; `-` for standard input.
    ///   - interruption: what ends standard input early, as if it ended there.
    package init(_ path: String, interruption: Interruption? = nil) throws(InputError) {
        let isNamed = path != Self.standardInput
        let descriptor = isNamed ? try Self.opened(path) : STDIN_FILENO
        self.descriptor = descriptor
        isOwned = isNamed
        name = isNamed ? path : "standard input"
        size = Self.rest(of: descriptor)
        isStream = lseek(descriptor, 0, SEEK_CUR) < 0
        self.interruption = isNamed ? nil : interruption
    }

    private static func opened(_ path: String) throws(InputError) -> Int32 {
        let directory = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        if directory >= 0 {
            close(directory)
            throw InputError(
                input: path,
                problem: "it is a directory; name a file in it, and for a .logarchive run "
                    + "`log show --archive \(path) --style ndjson | dnp-telemetry validate -`"
            )
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw InputError(input: path, problem: sentence(for: errno)) }
        return descriptor
    }

    /// How many bytes there are from here to the end; nil where that is not known.
    private static func rest(of descriptor: Int32) -> Int? {
        let here = lseek(descriptor, 0, SEEK_CUR)
        guard here >= 0 else { return nil }
        let end = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, here, SEEK_SET)
        return end > here ? end - here : nil
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Reads what there is, at most what the buffer holds; 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            guard isReadable() else { return 0 }
            let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw InputError(input: name, problem: Self.sentence(for: errno)) }
        }
    }

    /// Waits for bytes, or the end; false when neither comes in time.
    package borrowing func wait(milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
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

extension InputFile {
    /// Whether opening it leaves it as it is. A pipe gives its content once, and opening one waits for who writes it.
    package static func isReadTheSameTwice(_ path: String) -> Bool {
        guard path != standardInput else { return true }
        // What is missing is found when it is opened; links that only the kernel follows lead to pipes.
        guard let resolved = unsafe realpath(path, nil) else { return unsafe access(path, F_OK) != 0 }
        defer { unsafe free(resolved) }
        let attributes = try? unsafe FileManager.default.attributesOfItem(atPath: String(cString: resolved))
        let type = attributes?[.type] as? FileAttributeType
        return type != .typeUnknown && type != .typeSocket && type != .typeCharacterSpecial
    }
}

/// An input that cannot be read, in words for the one who named it.
package struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The input as it was named.
    package let input: String
    /// What is wrong with it, and what to do.
    package let problem: String

    package init(input: String, problem: String) {
        self.input = input
        self.problem = problem
    }

    /// The input and its problem.
    package var description: String { "\(PlainText.line(input)): \(problem)" }
}

/// The first Ctrl-C (SIGINT) while a live input is read: it ends the input, so that what came is still judged. The
/// second ends the process.
package struct Interruption: Sendable {
    /// How often it is looked for, in milliseconds.
    package static let interval: Int32 = 100
    private static let raised = Atomic(false)

    /// Takes the signal over from now on.
    package init() {
        Self.raised.store(false, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in Interruption.raised.store(true, ordering: .relaxed) }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        unsafe sigaction(SIGINT, &action, nil)
    }

    package var isRaised: Bool { Self.raised.load(ordering: .relaxed) }
}
