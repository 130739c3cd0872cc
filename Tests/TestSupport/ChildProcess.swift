// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// A child process with its output in two files.
package actor ChildProcess {
    package nonisolated let outputPath: String
    package nonisolated let errorPath: String
    private let process = Process()
    /// Closed with this object, which ends a child that reads its standard input to the end.
    private let input = Pipe()

    /// Starts the command; the first argument is the path of the executable.
    package init(_ command: [String], logs: String, name: String, environment: [String: String] = [:]) throws {
        outputPath = "\(logs)/\(name).stdout"
        errorPath = "\(logs)/\(name).stderr"
        for path in [outputPath, errorPath] { try Data().write(to: URL(fileURLWithPath: path)) }
        process.executableURL = URL(fileURLWithPath: command.first ?? "")
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = input
        let outputs = try [outputPath, errorPath].map { try FileHandle(forWritingTo: URL(fileURLWithPath: $0)) }
        process.standardOutput = outputs[0]
        process.standardError = outputs[1]
        let process = process
        try SignalMask.withNothingBlocked { try process.run() }
        // Foundation keeps a process that has ended, and what it was given.
        for output in outputs { try output.close() }
    }

    package var identifier: Int32 { process.processIdentifier }

    package var exitStatus: ExitStatus? {
        if process.isRunning { return nil }
        return process.terminationReason == .exit
            ? .code(process.terminationStatus) : .signal(process.terminationStatus)
    }

    package nonisolated var output: Data { contents(of: outputPath) }
    package nonisolated var errorText: String { text(of: errorPath) }

    package func signal(_ number: Int32) {
        if process.isRunning { kill(process.processIdentifier, number) }
    }

    /// Writes the whole standard input.
    package func feed(_ bytes: Data) throws {
        try input.fileHandleForWriting.write(contentsOf: bytes)
        try closeInput()
    }

    /// Writes to the standard input, which stays open.
    package func write(_ bytes: Data) throws {
        try input.fileHandleForWriting.write(contentsOf: bytes)
    }

    package func closeInput() throws {
        try input.fileHandleForWriting.close()
    }

    @discardableResult
    package func waitForExit(within limit: Duration = .seconds(30)) async throws -> ExitStatus {
        let status = try await awaited(
            "process \(process.processIdentifier) has ended",
            within: limit,
            every: .milliseconds(5)
        ) { exitStatus }
        try? input.fileHandleForWriting.close()
        return status
    }

    /// Kills the process and waits until it is gone.
    package func killAndWait() async {
        signal(SIGKILL)
        _ = try? await waitForExit()
    }
}

/// How a process ended.
package enum ExitStatus: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
}

/// The signals that the calling thread blocks, which a new process inherits.
private enum SignalMask {
    /// Runs the body with no signal blocked. The runtime's worker threads block SIGTERM, and a service that was
    /// started from one of them would never see it.
    static func withNothingBlocked<Value>(_ body: () throws -> Value) rethrows -> Value {
        var none = sigset_t()
        var before = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }
}

/// A command that was run to its end.
package struct Command: Sendable {
    package let status: ExitStatus
    package let output: Data
    package let error: String

    package var text: String { String(decoding: output, as: UTF8.self) }

    package static func run(
        _ arguments: [String],
        input: String? = nil,
        within limit: Duration = .seconds(60)
    ) async throws -> Command {
        try await withTemporaryDirectory { directory in
            var arguments = arguments
            if let input {
                try Data(input.utf8).write(to: URL(fileURLWithPath: "\(directory)/input"))
                arguments = ["/bin/sh", "-c", "exec \"$@\" < '\(directory)/input'", "sh"] + arguments
            }
            let process = try ChildProcess(arguments, logs: directory, name: "command")
            do {
                let status = try await process.waitForExit(within: limit)
                return Command(status: status, output: process.output, error: process.errorText)
            } catch {
                await process.killAndWait()
                throw error
            }
        }
    }
}
