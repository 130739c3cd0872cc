// SPDX-License-Identifier: Apache-2.0

/// A collector's page of metrics, held against what must be on it.
package struct PageComparison: Sendable {
    private static let counts = PrefetchCounts().series.map(\.name)
    private static let open = ["dnp_prefetch_open_cycles", "aiq_background_refresh_open_runs"]
    /// The families whose series are all compared: one that the truth does not name must be 0.
    private static let judged = [
        "dnp_prefetch_cycles_total{", "dnp_prefetch_sequence_violations_total{", "aiq_background_refresh_runs_total{",
        "aiq_background_refresh_violations_total{",
    ]

    /// The first series that differs, in words; nil where none does.
    package private(set) var difference: String?
    /// How many series were compared.
    package private(set) var compared = 0
    /// The cycles and runs that may still change what is judged.
    package private(set) var openCycles: Int64 = 0

    /// - Parameters:
    ///   - page: the Prometheus text format.
    ///   - expected: the value of each series that is not 0.
    package init(_ page: String, _ expected: [String: Int64]) {
        var found: [String: Int64] = [:]
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            if value.magnitude < 1e15 { found[String(line[..<space])] = Int64(value) }
        }
        openCycles = Self.open.reduce(0) { $0 + (found[$1] ?? 0) }
        compare(Self.counts, expected, found)
        guard openCycles == 0 else { return }
        let names = Set(found.keys).union(expected.keys).filter { name in Self.judged.contains { name.hasPrefix($0) } }
        compare(names.sorted(), expected, found)
    }

    private mutating func compare(_ names: [String], _ expected: [String: Int64], _ found: [String: Int64]) {
        for name in names {
            compared += 1
            let (wanted, value) = (expected[name] ?? 0, found[name] ?? 0)
            if wanted != value, difference == nil { difference = "\(name): expected \(wanted), found \(value)" }
        }
    }
}
