// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program that a benchmark runs.
final class ChildProcess {
    let id: pid_t
    private var hasEnded = false

    /// Starts a program, its output in files.
    init(_ command: [String], output: String = "/dev/null", errors: String = "/dev/null") throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var started = pid_t()
        let result = unsafe posix_spawn(&started, command[0], &actions, nil, &arguments, environ)
        guard result == 0 else { throw BenchmarkFailure("\(command[0]) could not be started: error \(result)") }
        id = started
    }

    deinit {
        end(with: SIGKILL)
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: The exit status as waitpid(2) tells it.
    @discardableResult
    func end(with signal: Int32) -> Int32 {
        guard !hasEnded else { return 0 }
        kill(id, signal)
        return wait()
    }

    /// Waits for the end.
    func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        hasEnded = true
        return status
    }

    /// Whether it has ended by itself.
    var isGone: Bool {
        if hasEnded { return true }
        var status: Int32 = 0
        hasEnded = unsafe waitpid(id, &status, WNOHANG) == id
        return hasEnded
    }
}
