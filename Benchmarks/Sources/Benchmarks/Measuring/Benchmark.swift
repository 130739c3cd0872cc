// SPDX-License-Identifier: Apache-2.0

/// A family of figures.
protocol Benchmark {
    /// What `--only` calls it.
    static var name: String { get }

    /// Measures.
    static func run(in room: BenchmarkRoom) throws -> [Row]
}
