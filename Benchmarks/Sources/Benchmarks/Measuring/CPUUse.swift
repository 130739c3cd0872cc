// SPDX-License-Identifier: Apache-2.0

internal import CDispatch
internal import Foundation
internal import Glibc

/// How much of the machine's CPU time went to others while something was measured, since that falsifies figures.
struct CPUUse {
    private let start = Self.read()
    private let watch = Stopwatch()
    private let cores: Int

    init(cores: Int) {
        self.cores = cores
    }

    /// The share of all cores' time, from 0 to 1, that neither this process nor its ended children used.
    var othersShare: Double {
        let now = Self.read()
        let others = (now.machine - start.machine) - (now.own - start.own)
        return max(0, min(1, others / (watch.seconds * Double(max(cores, 1)))))
    }

    /// Seconds that all CPUs were busy (proc(5), `/proc/stat`) and those of this process and its children.
    private static func read() -> (machine: Double, own: Double) {
        let stat = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let fields = stat.prefix { $0 != "\n" }.split(separator: " ").dropFirst().map { Double($0) ?? 0 }
        // user, nice, system, idle, iowait, irq, softirq, steal
        let busy = fields.indices.filter { $0 < 8 && $0 != 3 && $0 != 4 }.reduce(0) { $0 + fields[$1] }
        return (
            busy / Double(max(sysconf(Int32(_SC_CLK_TCK)), 1)),
            seconds(RUSAGE_SELF.rawValue) + seconds(RUSAGE_CHILDREN.rawValue)
        )
    }

    private static func seconds(_ whose: Int32) -> Double {
        var usage = rusage()
        guard unsafe getrusage(whose, &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
