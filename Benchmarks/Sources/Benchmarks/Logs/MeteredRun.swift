// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What one run of a program cost, as `peers/meter.c` tells it.
struct MeteredRun {
    let seconds: Double
    let cpuSeconds: Double
    /// The most resident memory, in megabytes of 1,000,000 bytes.
    let peakMegabytes: Double
    /// What it printed.
    let output: String

    /// Runs the program to its end.
    ///
    /// - Parameter good: the highest exit status that is no failure.
    init(_ command: [String], in room: BenchmarkRoom, upTo good: Int32 = 0) throws {
        guard !room.options.meter.isEmpty else { throw BenchmarkFailure("no --meter was named") }
        let directory = try room.directory("metered")
        defer { TemporaryDirectory.remove(directory) }
        let printed = "\(directory)/output"
        let errors = "\(directory)/errors"
        let figures = "\(directory)/figures"
        let status = try ChildProcess([room.options.meter, figures] + command, output: printed, errors: errors).wait()
        guard status & 0xFF == 0, status >> 8 <= good else {
            let told = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            throw BenchmarkFailure("\(command.joined(separator: " ")) ended with \(status): \(told.suffix(500))")
        }
        let numbers = try String(contentsOfFile: figures, encoding: .utf8).split(separator: " ")
            .map { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 }
        guard numbers.count == 3 else { throw BenchmarkFailure("\(room.options.meter) printed no three figures") }
        seconds = numbers[0]
        cpuSeconds = numbers[1]
        peakMegabytes = numbers[2] * 1_024 / 1e6
        output = try String(contentsOfFile: printed, encoding: .utf8)
    }
}
