// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program started by a test.
final class ChildProcess: Sendable {
    let id: pid_t

    /// Starts a program with its standard output in a file.
    init(_ path: String, _ arguments: [String] = [], output: String = "/dev/null") throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var arguments = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var started = pid_t()
        let result = unsafe posix_spawn(&started, path, &actions, nil, &arguments, environ)
        guard result == 0 else { throw TestFailure("\(path) could not be started: error \(result)") }
        id = started
    }

    func signal(_ number: Int32) {
        kill(id, number)
    }

    /// Waits for the end.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Runs a program to its end.
    ///
    /// - Returns: Its standard output.
    static func output(of path: String, _ arguments: [String]) throws -> [UInt8] {
        var name = Array("/tmp/journald-tests-XXXXXX".utf8CString)
        let file = unsafe name.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe mkstemp($0) } ?? -1
        }
        guard file >= 0 else { throw TestFailure("no temporary file: error \(errno)") }
        let temporary = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            close(file)
            unsafe unlink(temporary)
        }
        let status = try ChildProcess(path, arguments, output: temporary).wait()
        guard status == 0 else { throw TestFailure("\(path) \(arguments) ended with status \(status)") }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe read(file, &chunk, chunk.count)
            guard count > 0 else { return output }
            output.append(contentsOf: chunk[..<count])
        }
    }
}

/// A limit for waiting until something holds.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(_ duration: Duration = .seconds(60)) {
        end = ContinuousClock.now + duration
    }

    var hasPassed: Bool { ContinuousClock.now >= end }

    /// Looks every few milliseconds, or as soon as the descriptor is readable, whether something holds.
    ///
    /// - Throws: ``TestFailure`` with the description when it doesn't hold in time.
    func wait(for what: @autoclosure () -> String, wakingOn descriptor: Int32 = -1, _ holds: () throws -> Bool) throws {
        while try !holds() {
            guard !hasPassed else { throw TestFailure("waited in vain for \(what())") }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&request, 1, 5)
        }
    }
}

/// Why a test can't go on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
