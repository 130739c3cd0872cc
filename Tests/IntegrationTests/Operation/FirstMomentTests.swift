// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("a signal in the first moment of the process")
struct FirstMomentTests {
    /// A library that sends its process a signal when it is loaded: before the initialisers of any other library have
    /// run, and long before `main`.
    private func library(sending number: Int32, in directory: String) async throws -> String {
        let file = "\(directory)/first.c"
        let source = """
            #include <signal.h>
            #include <unistd.h>
            __attribute__((constructor)) static void first(void) { kill(getpid(), \(number)); }

            """
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        let path = "\(directory)/first.so"
        let build = try await Command.run(["/usr/bin/env", "clang", "-shared", "-fPIC", "-o", path, file])
        guard build.status == .code(0) else {
            throw MissingDependency(description: "clang, which comes with Swift, builds no library: \(build.error)")
        }
        return path
    }

    private func service(in directory: String, _ options: String...) throws -> [String] {
        [try Service.binary(), "serve", "--listen", "127.0.0.1:0", "--state-dir", "\(directory)/state"]
            + ["--journal", "off"] + options
    }

    /// Whether the process handles SIGHUP, SIGTERM and SIGINT by now; nil when it is gone.
    private func keepsSignals(_ process: Int32) -> Bool? { areAll(in: "SigCgt", of: process) }

    /// Whether a set of signals of the process has SIGHUP, SIGTERM and SIGINT; nil when it is gone.
    private func areAll(in set: String, of process: Int32) -> Bool? {
        guard
            let line = text(of: "/proc/\(process)/status").split(separator: "\n").first(where: {
                $0.hasPrefix(set)
            }),
            let mask = line.split(whereSeparator: \.isWhitespace).last.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        return [SIGHUP, SIGTERM, SIGINT].allSatisfy { mask & 1 << UInt64($0 - 1) != 0 }
    }

    @Test(
        "SIGTERM or SIGINT that arrives before the program's first line ends the service with 0",
        arguments: [SIGTERM, SIGINT]
    )
    func terminationBeforeMain(number: Int32) async throws {
        try await withTemporaryDirectory { directory in
            let process = try ChildProcess(
                try service(in: directory),
                logs: directory,
                name: "service",
                environment: ["LD_PRELOAD": try await library(sending: number, in: directory)]
            )
            do {
                #expect(try await process.waitForExit(within: .seconds(10)) == .code(0))
            } catch {
                await process.killAndWait()
                throw error
            }
            #expect(!process.errorText.contains("rror"), "\(process.errorText)")
        }
    }

    @Test(
        "a SIGHUP that arrives before the program's first line is kept, and the configuration read again once it runs"
    )
    func hangUpBeforeMain() async throws {
        try await withTemporaryDirectory { directory in
            let wrapper = ["/usr/bin/env", "LD_PRELOAD=\(try await library(sending: SIGHUP, in: directory))"]
            try await withService(wrapper: wrapper) { service in
                let client = await service.client
                try await eventually("it has read the configuration again") {
                    try await client.metrics().value("dnp_telemetry_config_reloads_total", ["result": "applied"]) == 1
                }
                #expect(try await service.terminate() == .code(0))
            }
        }
    }

    @Test(
        "SIGTERM, SIGINT and SIGHUP at forty random moments of the first 30 ms end the service with 0 or reload it",
        .timeLimit(.minutes(4))
    )
    func randomMoments() async throws {
        var random = SplitMix64(seed: 30)
        var kept = 0
        for round in 0..<40 {
            let number = [SIGTERM, SIGINT, SIGTERM, SIGHUP][round % 4]
            let delay = Duration.microseconds(Int.random(in: 0..<30_000, using: &random))
            // Half of them from the start of the process on, half from when the loader has handed over to it.
            let isAfterLoading = round % 8 < 4
            try await withTemporaryDirectory { directory in
                let process = try ChildProcess(try service(in: directory), logs: directory, name: "service")
                do {
                    let identifier = await process.identifier
                    while isAfterLoading, keepsSignals(identifier) == false { await Task.yield() }
                    try await Task.sleep(for: delay)
                    let isKept = keepsSignals(identifier) == true
                    await process.signal(number)
                    kept += isKept ? 1 : 0
                    try await expectOrderly(process, after: number, isKept: isKept, "round \(round), \(delay)")
                } catch {
                    await process.killAndWait()
                    throw error
                }
            }
        }
        #expect(kept >= 20, "the signals came too early to show anything")
    }

    @Test("signals that the parent blocks from before the start end the service with 0 or reload it, at any moment")
    func blockedUntilKept() async throws {
        var random = SplitMix64(seed: 31)
        for round in 0..<6 {
            let number = [SIGTERM, SIGINT, SIGHUP][round % 3]
            let delay = Duration.microseconds(Int.random(in: 0..<30_000, using: &random))
            try await withTemporaryDirectory { directory in
                let process = try ChildProcess(
                    ["/usr/bin/env", "--block-signal=HUP,INT,TERM"] + (try service(in: directory)),
                    logs: directory,
                    name: "service"
                )
                do {
                    let identifier = await process.identifier
                    while areAll(in: "SigBlk", of: identifier) == false, keepsSignals(identifier) == false {
                        await Task.yield()
                    }
                    try await Task.sleep(for: delay)
                    await process.signal(number)
                    try await expectOrderly(process, after: number, isKept: true, "round \(round), \(delay)")
                } catch {
                    await process.killAndWait()
                    throw error
                }
            }
        }
    }

    /// What became of a signal. Until the loader hands over to the process, which no program can shorten, it has its default
    /// effect.
    private func expectOrderly(
        _ process: ChildProcess,
        after number: Int32,
        isKept: Bool,
        _ moment: Comment
    ) async throws {
        if number == SIGHUP {
            try await eventually("it has reloaded, or has ended") {
                if await process.exitStatus != nil { return true }
                return process.errorText.contains("the configuration was reloaded")
            }
            await process.signal(SIGTERM)
        }
        do {
            // That it ends is the subject; a machine that only now writes what was linked may take its time.
            let status = try await process.waitForExit()
            #expect(status == .code(0) || !isKept && status == .signal(number), moment)
        } catch {
            let state = text(of: "/proc/\(await process.identifier)/status")
            Issue.record("\(moment), signal \(number), kept: \(isKept): \(process.errorText)\n\(state)")
            throw error
        }
    }

    @Test(
        "commands that are no service keep the signals' default effect",
        arguments: ["validate", "replay", "report"],
        [SIGTERM, SIGINT, SIGHUP, SIGPIPE]
    )
    func otherCommands(command: String, number: Int32) async throws {
        try await withTemporaryDirectory { directory in
            // The tests' own process may ignore some of them.
            let defaults = ["/usr/bin/env", "--default-signal=HUP,INT,PIPE,TERM"]
            let process = try ChildProcess(
                defaults + [try Service.binary(), command, "-"],
                logs: directory,
                name: command
            )
            // Its standard input stays open.
            try await eventually("its threads run", every: .milliseconds(1)) {
                let tasks = try FileManager.default.contentsOfDirectory(
                    atPath: "/proc/\(await process.identifier)/task"
                )
                return tasks.count > 1
            }
            #expect(keepsSignals(await process.identifier) == false)
            await process.signal(number)
            let end = try await process.waitForExit(within: .seconds(10))
            // Once a command reads a live input, the first Ctrl-C ends that, and what was read is judged: nothing here.
            let isJudged = number == SIGINT && end == .code(command == "replay" ? 0 : 1)
            #expect(end == .signal(number) || isJudged, "\(end)")
        }
    }
}
