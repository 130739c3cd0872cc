// SPDX-License-Identifier: Apache-2.0

/// A collector's page of metrics, held against what must be on it.
package struct PageComparison: Sendable {
    private static let counts = PrefetchCounts().series.map(\.name)
    private static let open = ["dnp_prefetch_open_cycles", "aiq_background_refresh_open_runs"]
    /// The families whose series are all compared: one that the truth does not name must be 0.
    private static let judged = [
        "dnp_prefetch_cycles_total{", "dnp_prefetch_sequence_violations_total{", "aiq_background_refresh_runs_total{",
        "aiq_background_refresh_violations_total{", "dnp_integrity_checks_total{",
    ]
    private static let ofValidateAlone = Set(BrokenRule.allCases.filter(\.isOfValidateAlone).map(\.series))

    /// What the comparison came to.
    package enum Verdict: Equatable, Sendable {
        /// Every series is as it must be.
        case equal
        /// The counters are, and so many cycles and runs may still change what is judged.
        case open(Int64)
        /// The first series that is less than it must be, in words, and no counter is more: something may still be on its way.
        case behind(String)
        /// The first series that differs, in words.
        case different(String)
    }

    package let verdict: Verdict
    /// How many series were compared.
    package let compared: Int

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
        let counts = Self.differences(Self.counts, expected, found)
        if let first = counts.first(where: { $0.isMore }) ?? counts.first {
            compared = Self.counts.count
            verdict = first.isMore ? .different(first.words) : .behind(first.words)
            return
        }
        let open = Self.open.reduce(0) { $0 + (found[$1] ?? 0) }
        guard open == 0 else {
            compared = Self.counts.count
            verdict = .open(open)
            return
        }
        let names = Set(found.keys).union(expected.keys).subtracting(Self.ofValidateAlone).filter { name in
            Self.judged.contains { name.hasPrefix($0) }
        }
        compared = Self.counts.count + names.count
        let judged = Self.differences(names.sorted(), expected, found)
        verdict = judged.first.map { .different($0.words) } ?? .equal
    }

    /// The first series that differs, in words; nil where none does.
    package var difference: String? {
        switch verdict {
        case .equal, .open: nil
        case .behind(let words), .different(let words): words
        }
    }

    private struct Difference {
        let words: String
        /// Whether more was found than there must be, which nothing that comes later can mend.
        let isMore: Bool
    }

    private static func differences(
        _ names: [String],
        _ expected: [String: Int64],
        _ found: [String: Int64]
    ) -> [Difference] {
        names.compactMap { name in
            let (wanted, value) = (expected[name] ?? 0, found[name] ?? 0)
            return wanted == value
                ? nil : Difference(words: "\(name): expected \(wanted), found \(value)", isMore: value > wanted)
        }
    }
}
