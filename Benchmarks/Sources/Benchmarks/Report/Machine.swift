// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// Where the figures come from.
struct Machine: Codable, Sendable {
    var cores: Int
    var cpu: String
    var memoryGB: Int
    var kernel: String
    /// How many threads wanted to run when the benchmarks began, in the mean of a minute; theirs come on top.
    var load: Double

    init() {
        cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        cpu = model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown CPU"
        memoryGB = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) / 1_000_000_000
        let release = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? "unknown"
        kernel = release.trimmingCharacters(in: .whitespacesAndNewlines)
        var loads = [0.0, 0.0, 0.0]
        load = unsafe getloadavg(&loads, 3) > 0 ? loads[0] : 0
    }

    var line: String {
        "\(cores) cores, \(cpu), \(memoryGB) GB, Linux \(kernel); load before: \(String(format: "%.2f", load))"
    }
}
