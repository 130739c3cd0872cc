// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport

/// `dnp-telemetry serve` on a state directory of its own, which outlives the process.
actor Service {
    enum Destination: String {
        case journald, stdout, off
    }

    struct Settings: Sendable {
        var stateDirectory: String
        var journal: Destination = .off
        var listen = "127.0.0.1:0"
        /// The port for clients, if it differs from the listening one.
        var port: Int?
        var options: [String] = []
        /// A program that starts the service: its path and arguments, to which the service's are added.
        var wrapper: [String] = []
        var namespace: MountNamespace?
        /// A clock that the next start runs by; see ``ShiftedClock``.
        var clock: ShiftedClock?
        /// Whether a start waits for `/-/ready`, which users or TLS may forbid.
        var asksWhetherReady = true
        /// The service manager from the next start on.
        var manager: NotifiedManager?
    }

    /// The process ended, or did not become ready.
    struct DidNotStart: Error, CustomStringConvertible {
        let status: ExitStatus?
        let log: String
        var description: String {
            "the service did not come up (\(status.map(String.init(describing:)) ?? "runs")): \(log)"
        }
    }

    private(set) var settings: Settings
    private let logs: String
    private var process: ChildProcess?
    private var starts = 0

    init(_ settings: Settings, logs: String) {
        self.settings = settings
        self.logs = logs
    }

    /// The executable under test: `DNP_TELEMETRY_BINARY`, else the one built beside this test bundle.
    static func binary() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["DNP_TELEMETRY_BINARY"], !path.isEmpty { return path }
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("dnp-telemetry").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw MissingDependency(
                description: "\(path) is not there: run `make build`, or name one in DNP_TELEMETRY_BINARY."
            )
        }
        return path
    }

    /// Starts the process without waiting for anything.
    @discardableResult
    func launch() throws -> ChildProcess {
        var command = [
            try Self.binary(), "serve", "--listen", settings.listen, "--state-dir", settings.stateDirectory,
            "--journal", settings.journal.rawValue,
        ]
        command = settings.wrapper + command + settings.options
        if let namespace = settings.namespace { command = namespace.entering(command) }
        starts += 1
        let environment = ["NO_COLOR": "1"].merging(settings.clock?.environment ?? [:]) { $1 }
            .merging(settings.manager?.environment ?? [:]) { $1 }
        let process = try ChildProcess(command, logs: logs, name: "service-\(starts)", environment: environment)
        self.process = process
        return process
    }

    /// Starts the process and waits until it is ready.
    func start() async throws {
        let process = try launch()
        if settings.listen.hasSuffix(":0"), settings.port == nil {
            let port = try await awaited("the start screen names the port", every: .milliseconds(5)) {
                try await failIfEnded()
                return StartScreen(process.errorText).port
            }
            settings.listen = "127.0.0.1:\(port)"
        }
        if settings.asksWhetherReady { try await waitUntilReady() }
    }

    func waitUntilReady() async throws {
        let client = client
        try await eventually("/-/ready answers 200", every: .milliseconds(5)) {
            try await failIfEnded()
            return (try? await client.get("/-/ready", within: .seconds(5)))?.status == 200
        }
    }

    private func failIfEnded() async throws {
        guard let process, let status = await process.exitStatus else { return }
        throw DidNotStart(status: status, log: process.errorText)
    }

    /// A client of the port that the service has had since its first start.
    var client: TelemetryClient {
        TelemetryClient(port: settings.port ?? Int(settings.listen.split(separator: ":").last ?? "") ?? 0)
    }

    var screen: StartScreen { StartScreen(process?.errorText ?? "") }
    var log: String { process?.errorText ?? "" }
    var output: String { String(decoding: process?.output ?? Data(), as: UTF8.self) }

    /// All that the service has written to standard error since the first start.
    var wholeLog: String {
        guard starts > 0 else { return "" }
        return (1...starts).map { text(of: "\(logs)/service-\($0).stderr") }.joined(separator: "\n")
    }

    /// Sets the clock of the next start.
    func run(by clock: ShiftedClock) {
        settings.clock = clock
    }

    /// Sets the service manager of the next start.
    func run(under manager: NotifiedManager) {
        settings.manager = manager
    }

    /// The process's number.
    var identifier: Int32? {
        get async { await process?.identifier }
    }

    /// How the process has ended; nil while it runs.
    var exitStatus: ExitStatus? {
        get async { await process?.exitStatus }
    }

    /// Sends a signal.
    func signal(_ number: Int32) async {
        await process?.signal(number)
    }

    /// Writes the whole standard input.
    func feed(_ bytes: [UInt8]) async throws {
        try await process?.feed(Data(bytes))
    }

    /// SIGKILL.
    func kill() async {
        await process?.killAndWait()
    }

    /// Sends SIGTERM, and returns how the process ended.
    func terminate(within limit: Duration = .seconds(10)) async throws -> ExitStatus {
        await process?.signal(SIGTERM)
        return try await end(within: limit)
    }

    /// How the process ended.
    func end(within limit: Duration = .seconds(10)) async throws -> ExitStatus {
        guard let process else { throw DidNotStart(status: nil, log: "it was never started") }
        return try await process.waitForExit(within: limit)
    }
}

/// Runs a service on a new state directory, from its start to its end.
///
/// - Parameter prepare: is called with the state directory before the first start.
func withService<Value>(
    journal: Service.Destination = .off,
    listen: String = "127.0.0.1:0",
    port: Int? = nil,
    options: [String] = [],
    wrapper: [String] = [],
    in namespace: MountNamespace? = nil,
    asksWhetherReady: Bool = true,
    under manager: NotifiedManager? = nil,
    prepare: (String) async throws -> Void = { _ in },
    _ body: (Service) async throws -> Value
) async throws -> Value {
    try await withTemporaryDirectory { directory in
        let state = "\(directory)/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try await prepare(state)
        let service = Service(
            Service.Settings(
                stateDirectory: state,
                journal: journal,
                listen: listen,
                port: port,
                options: options,
                wrapper: wrapper,
                namespace: namespace,
                asksWhetherReady: asksWhetherReady,
                manager: manager
            ),
            logs: directory
        )
        do {
            try await service.start()
            let value = try await body(service)
            await service.kill()
            return value
        } catch {
            await service.kill()
            let log = await service.wholeLog.suffix(4_000)
            FileHandle.standardError.write(Data("the service's log before this failure:\n\(log)\n".utf8))
            throw error
        }
    }
}

/// What the service shows on standard error when it starts: a name and a value on each line.
struct StartScreen {
    private var values: [String: String] = [:]

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("  ") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard words.count == 2, values[String(words[0])] == nil else { continue }
            values[String(words[0])] = String(words[1].drop { $0 == " " })
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The port in `post     http://127.0.0.1:PORT/v1/events`.
    var port: Int? {
        guard let address = values["post"], address.hasSuffix("/v1/events") else { return nil }
        return address.dropLast("/v1/events".count).split(separator: ":").last.flatMap { Int($0) }
    }
}

/// A clock ahead of the machine's for a child process, so that timeouts pass without waiting.
struct ShiftedClock: Sendable {
    private let library: String

    /// Builds a library that is loaded in front of libc, with the toolchain's own compiler.
    init(seconds: Int, in directory: String) async throws {
        library = "\(directory)/later-\(seconds).so"
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <time.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
                int result = real(clock, time);
                if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += \(seconds);
                return result;
            }

            """
        let file = "\(directory)/later-\(seconds).c"
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        let build = try await Command.run(
            ["/usr/bin/env", "clang", "-shared", "-fPIC", "-O1", "-o", library, file, "-ldl"]
        )
        guard build.status == .code(0) else {
            throw MissingDependency(description: "clang, which comes with Swift, builds no library: \(build.error)")
        }
    }

    var environment: [String: String] { ["LD_PRELOAD": library] }
}
