// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What a process keeps in memory (proc(5), `/proc/PID/status`).
struct ProcessMemory {
    /// All that is resident.
    let resident: Double
    /// What of it is no file's.
    let anonymous: Double

    /// Reads both, in megabytes of 1,000,000 bytes.
    init(of process: pid_t) throws {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        func megabytes(_ name: String) throws -> Double {
            guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }),
                let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
            else { throw BenchmarkFailure("/proc/\(process)/status tells no \(name)") }
            return kibibytes * 1_024 / 1e6
        }
        resident = try megabytes("VmRSS")
        anonymous = try megabytes("RssAnon")
    }
}
