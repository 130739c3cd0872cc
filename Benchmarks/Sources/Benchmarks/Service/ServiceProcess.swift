// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import LedgerState

/// The real executable on a ledger of its own, which stays over restarts.
final class ServiceProcess {
    struct Settings {
        var journal = "off"
        var durability = "process"
        var options: [String] = []
    }

    let stateDirectory: String
    private let executable: String
    private let settings: Settings
    private let port: UInt16
    private var process: ChildProcess?

    init(in room: BenchmarkRoom, _ settings: Settings) throws {
        guard !room.options.service.isEmpty else { throw BenchmarkFailure("no --service was named") }
        executable = room.options.service
        self.settings = settings
        stateDirectory = try room.directory("state")
        port = try LoopbackSocket.freePort()
    }

    deinit {
        process?.end(with: SIGKILL)
        TemporaryDirectory.remove(stateDirectory)
    }

    /// Starts it.
    ///
    /// - Parameter options: more options for this start.
    /// - Returns: Seconds until it was ready.
    @discardableResult
    func start(options: [String] = []) throws -> Double {
        let watch = Stopwatch()
        let started = try ChildProcess(
            [
                executable, "serve", "--listen", "127.0.0.1:\(port)", "--state-dir", stateDirectory,
                "--journal", settings.journal, "--durability", settings.durability,
            ] + settings.options + options,
            errors: "\(stateDirectory)/log"
        )
        process = started
        let ready = PreparedRequest(get: "/-/ready")
        try Deadline(seconds: 120).wait(for: "the service to be ready: \(log)", every: 500) {
            if started.isGone { throw BenchmarkFailure("the service has ended: \(log)") }
            guard let connection = try? connect() else { return false }
            return try connection.exchange(ready).status == 200
        }
        return watch.seconds
    }

    func connect() throws -> HTTPConnection { HTTPConnection(try socket()) }

    func socket() throws -> LoopbackSocket { try LoopbackSocket(port: port) }

    func kill() {
        process?.end(with: SIGKILL)
    }

    /// Lets it stop in an orderly way.
    func stop() throws {
        let status = process?.end(with: SIGTERM)
        guard status == 0 else { throw BenchmarkFailure("the service ended with \(status ?? -1): \(log)") }
    }

    var memory: ProcessMemory { get throws { try ProcessMemory(of: id) } }
    var cpuClock: CPUClock { get throws { try CPUClock(process: id) } }

    /// Reads one value of the metrics page.
    func metric(_ name: String) throws -> Double {
        let page = try connect().exchange(PreparedRequest(get: "/metrics")).text
        let line = page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        guard let value = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw BenchmarkFailure("\(name) is not on the metrics page")
        }
        return value
    }

    private var id: pid_t {
        get throws {
            guard let process else { throw BenchmarkFailure("the service does not run") }
            return process.id
        }
    }

    private var log: String {
        String((try? String(contentsOfFile: "\(stateDirectory)/log", encoding: .utf8))?.suffix(2_000) ?? "")
    }
}
