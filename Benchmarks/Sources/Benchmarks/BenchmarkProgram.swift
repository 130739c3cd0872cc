// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// Runs the benchmarks and prints their figures. A target that is not reached is a line in the table, not an error.
@main
enum BenchmarkProgram {
    private static var benchmarks: [any Benchmark.Type] {
        [
            DecodeBenchmark.self, FoldBenchmark.self, CommitBenchmark.self, ScrapeBenchmark.self,
            LargeScrapeBenchmark.self, ScrapedCommitBenchmark.self, ExportBenchmark.self, ConsoleBenchmark.self,
            LogsBenchmark.self, EventFileBenchmark.self, JournalBenchmark.self, InstrumentBenchmark.self,
            ContentionBenchmark.self, ExpositionBenchmark.self, FoldMemoryBenchmark.self, ServiceMemoryBenchmark.self,
        ]
    }

    /// Those that run only where they are named.
    private static var longer: [any Benchmark.Type] { [GrowthBenchmark.self, LongHistoryBenchmark.self] }

    static func main() throws {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if let content = options.probe {
                return print(try FoldMemory(of: content, in: BenchmarkRoom(options)).line)
            }
            try run(options)
        } catch {
            say("\(error)")
            exit(2)
        }
    }

    private static func run(_ options: Options) throws {
        signal(SIGPIPE, SIG_IGN)
        let every = benchmarks + longer
        let names = every.map { $0.name }
        for name in options.only.sorted() where !names.contains(name) {
            throw BenchmarkFailure("no benchmark is called \(name); there are \(names.joined(separator: ", "))")
        }
        let room = BenchmarkRoom(options)
        var report = Report(machine: Machine())
        var failures = 0
        let wholeUse = CPUUse(cores: report.machine.cores)
        for benchmark in options.only.isEmpty ? benchmarks : every.filter({ options.only.contains($0.name) }) {
            let watch = Stopwatch()
            let use = CPUUse(cores: report.machine.cores)
            do {
                report.rows += try benchmark.run(in: room)
            } catch {
                failures += 1
                report.rows.append(.notMeasured(benchmark.name, because: "\(error)"))
            }
            let others = Int((use.othersShare * 100).rounded())
            say("\(benchmark.name): \(Int(watch.seconds.rounded())) s; others had \(others) % of the CPU time")
        }
        report.othersShare = wholeUse.othersShare
        for row in report.rows where row.verdict == .impossible {
            failures += 1
            say("\(row.work): \(row.runs) \(row.unit) cannot be; the measurement is wrong")
        }
        print(report.table)
        if let path = options.json { try report.json().write(to: URL(fileURLWithPath: path)) }
        if failures > 0 { exit(1) }
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
