// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import LogInput
import Synchronization
import TextOutput

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Results go to standard output, everything else to standard error.
enum Terminal {
    static let input = STDIN_FILENO
    static let output = STDOUT_FILENO
    static let error = STDERR_FILENO

    /// Opens /dev/null for closed standard streams, so that no other file gets their descriptors.
    static func openClosedStreams() {
        for stream in [input, output, error] where fcntl(stream, F_GETFD) < 0 {
            // open(2) returns the lowest free descriptor, which is this one.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether it is a pipe, a socket or a terminal, which may go on.
    static func isStream(_ descriptor: Int32) -> Bool { lseek(descriptor, 0, SEEK_CUR) < 0 }

    /// The style of text on standard output.
    static var style: TextStyle {
        TextStyle(isTerminal: isTerminal(output), environment: ProcessInfo.processInfo.environment)
    }

    /// A line on standard error.
    static func say(_ line: String) {
        _ = FileOutput.write(Array((line + "\n").utf8), to: error)
    }

    /// Replaces the last line of a terminal's standard error.
    static func replaceLine(_ text: String) {
        _ = FileOutput.write(Array("\r\u{1B}[K\(text)".utf8), to: error)
    }

    /// Writes results. A closed pipe is no error: the exit status still holds the verdict.
    static func print(_ bytes: [UInt8]) throws { _ = try isTaken(bytes) }

    /// Writes a part of results that go on for as long as somebody reads them.
    ///
    /// - Throws: the exit status of a program that a closed pipe ends.
    static func stream(_ bytes: [UInt8]) throws {
        guard try isTaken(bytes) else { throw ExitCode(128 + SIGPIPE) }
    }

    /// Writes bytes; false where nobody reads them any more.
    private static func isTaken(_ bytes: [UInt8]) throws -> Bool {
        signal(SIGPIPE, SIG_IGN)
        let problem = FileOutput.write(bytes, to: output)
        if problem == 0 { return true }
        if problem == EPIPE { return false }
        unsafe say("Error: standard output cannot be written: \(String(cString: strerror(problem)))")
        throw ExitCode(2)
    }

    static func print(_ text: String) throws { try print(Array(text.utf8)) }

    /// Checks that a file of results can be written, before the work for it is done.
    ///
    /// - Throws: `ExitCode(2)` after printing the problem.
    static func check(output path: String) throws {
        do throws(OutputError) {
            try OutputFile.check(path)
        } catch {
            say("Error: \(error)")
            throw ExitCode(2)
        }
    }

    /// Writes a file of results.
    ///
    /// - Throws: `ExitCode(2)` after printing the problem.
    static func write(_ bytes: [UInt8], to path: String, mayReplace: Bool) throws {
        do throws(OutputError) {
            try OutputFile.write(bytes, to: path, mayReplace: mayReplace)
        } catch {
            say("Error: \(error)")
            throw ExitCode(2)
        }
    }
}

/// A progress line of a long run on a terminal's standard error, shown after the first second.
final class ProgressLine: Sendable {
    private let isShown: Bool
    private let start = ContinuousClock.now
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(isShown: Bool) {
        self.isShown = isShown
    }

    func show(_ progress: InputProgress) {
        show { progress.line(elapsedSeconds: $0) }
    }

    /// Shows a line that is made of the seconds that have passed.
    func show(_ line: (Double) -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let elapsed = now - start
        guard elapsed > .seconds(1) else { return }
        let isDue = last.withLock { last in
            if let last, now - last < .milliseconds(200) { return false }
            last = now
            return true
        }
        if isDue { Terminal.replaceLine(line(elapsed / .seconds(1))) }
    }

    /// Erases the line.
    func clear() {
        if isShown, last.withLock({ $0 != nil }) { Terminal.replaceLine("") }
    }
}
