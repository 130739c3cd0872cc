// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hashing
internal import LedgerState
internal import MetricsRegistry
internal import TelemetryEvents
package import TextOutput

/// The result of rebuilding the projections and comparing them with the checkpoint.
package struct RebuildReport: Hashable, Sendable {
    /// The result of the comparison.
    package enum Result: String, Sendable {
        /// The rebuilt state equals the saved one byte by byte.
        case equal
        case different
        /// Batches that the saved state counts were deleted, or an earlier version counted them in another way, so it can
        /// only be continued.
        case notComparable = "not_comparable"
    }

    /// A page that differs.
    struct Page: Hashable, Sendable {
        enum Difference: String, Sendable {
            case content
            case notSaved = "not_saved"
            case savedOnly = "saved_only"
        }

        let name: String
        let difference: Difference
    }

    /// A sample of the metrics page that differs.
    struct Counter: Hashable, Sendable {
        let name: String
        let saved: String?
        let rebuilt: String?
    }

    /// The result of the comparison.
    package internal(set) var result: Result
    /// Whether the rebuilt state was saved.
    package internal(set) var isWritten = false
    /// Whether the saved state continues that of an earlier version, which this one may not come to again.
    var continuesEarlierVersion = false
    /// The position of the saved state; nil when none was ever saved.
    var saved: LedgerPosition?
    /// The position up to which batches were deleted.
    var pruned: LedgerPosition
    /// The end of the ledger.
    var end: LedgerPosition
    /// The folded batches and events.
    var batches: UInt64 = 0
    var events: UInt64 = 0
    /// The number of saved pages.
    var savedPages = 0
    var pages: [Page] = []
    var counters: [Counter] = []
    /// What could not be read or compared.
    var problems: [String] = []
}

extension RebuildReport {
    /// The most pages and counters listed; there may be tens of thousands.
    private static let listed = 100

    /// One line for each difference, and the result last.
    ///
    /// - Parameter isBrief: whether to print only the result.
    package func text(style: TextStyle, isBrief: Bool = false) -> String {
        var text = ""
        if !isBrief {
            for problem in problems { text += "problem  \(problem)\n" }
            // Those of another version differ in most pages, which says nothing.
            let pages = result == .notComparable ? [] : pages
            text += Self.list(pages, of: "pages") { "page     \($0.name)  \($0.difference.words)" }
            text += Self.list(counters, of: "counters") {
                "counter  \($0.name)  saved \($0.saved ?? "nothing"), rebuilt \($0.rebuilt ?? "nothing")"
            }
        }
        text += style.text(result.words, result.colour) + ": \(sentence)\n"
        if isWritten { text += "written: the checkpoint is the rebuilt state now, true for \(end)\n" }
        return text
    }

    private var sentence: String {
        let folded = "\(batches.counted("batch", "batches")) with \(events.counted("event")) folded, up to \(end)"
        guard let saved else { return "nothing was saved yet; \(folded)" }
        switch result {
        case .equal: return "all \(savedPages) pages saved for \(saved); \(folded)"
        case .different:
            return "\(pages.count) pages and \(counters.count) counters, saved for \(saved); \(folded)"
        case .notComparable where pruned == .start:
            let difference = counters.isEmpty ? "every counter is the same" : "\(counters.count) counters would differ"
            return
                "the checkpoint for \(saved) continues what an earlier version had counted, which this one may read in "
                + "another way, so it can be continued and not rebuilt; \(difference); \(folded)"
        case .notComparable:
            return
                "batches up to \(pruned) were deleted, so the checkpoint for \(saved) can be continued and not rebuilt; "
                + "after it \(folded)"
        }
    }

    private static func list<Item>(_ items: [Item], of name: String, _ line: (Item) -> String) -> String {
        var text = items.prefix(listed).map { line($0) + "\n" }.joined()
        if items.count > listed { text += "and \(items.count - listed) more \(name)\n" }
        return text
    }

    /// One object: `{"result":"equal|different|not_comparable","written":false,"continuesEarlierVersion":false,"saved":{"batch":n,"sequence":n}|null,
    /// "pruned":{...},"end":{...},"batches":n,"events":n,"savedPages":n,"differentPages":n,"pages":[{"page":"...",
    /// "difference":"content|not_saved|saved_only"}],"counters":[{"name":"...","saved":"1"|null,"rebuilt":"2"|null}],
    /// "problems":["..."]}`; at most 100 pages and counters are listed.
    package func json() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("result")
            json.value(result.rawValue)
            json.name("written")
            json.value(isWritten)
            json.name("continuesEarlierVersion")
            json.value(continuesEarlierVersion)
            for (name, position) in [("saved", saved), ("pruned", pruned), ("end", end)] {
                json.name(name)
                Self.append(position, to: &json)
            }
            for (name, count) in [("batches", batches), ("events", events), ("savedPages", UInt64(savedPages))] {
                json.name(name)
                json.value(count)
            }
            json.name("differentPages")
            json.value(UInt64(pages.count))
            json.name("pages")
            json.array { json in
                for page in pages.prefix(Self.listed) { json.object { page.append(to: &$0) } }
            }
            json.name("counters")
            json.array { json in
                for counter in counters.prefix(Self.listed) { json.object { counter.append(to: &$0) } }
            }
            json.name("problems")
            json.array { json in
                for problem in problems { json.value(problem) }
            }
        }
        return json.asLine()
    }

    private static func append(_ position: LedgerPosition?, to json: inout JSONWriter) {
        guard let position else { return json.value(nil as String?) }
        json.object { json in
            json.name("batch")
            json.value(position.batch)
            json.name("sequence")
            json.value(position.sequence)
        }
    }
}

extension RebuildReport.Page {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("page")
        json.value(name)
        json.name("difference")
        json.value(difference.rawValue)
    }
}

extension RebuildReport.Counter {
    fileprivate func append(to json: inout JSONWriter) {
        json.name("name")
        json.value(name)
        json.name("saved")
        json.value(saved)
        json.name("rebuilt")
        json.value(rebuilt)
    }
}

extension RebuildReport.Page.Difference {
    fileprivate var words: String {
        switch self {
        case .content: "has another content"
        case .notSaved: "is not saved"
        case .savedOnly: "is saved and should not be"
        }
    }
}

extension RebuildReport.Result {
    fileprivate var words: String {
        switch self {
        case .equal: "equal"
        case .different: "different"
        case .notComparable: "not comparable"
        }
    }

    fileprivate var colour: TextStyle.Colour {
        switch self {
        case .equal: .good
        case .different: .bad
        case .notComparable: .note
        }
    }
}

/// Compares the pages of a saved state with those of a rebuilt one, by name and content.
struct StateComparison {
    /// The saved pages; only their hashes are kept.
    private var saved: [StateKey: SHA256Digest] = [:]

    private var differences: [StateKey: RebuildReport.Page.Difference] = [:]

    /// Adds a saved page.
    mutating func add(saved key: StateKey, _ value: [UInt8]) {
        saved[key] = SHA256Hash.digest(value)
    }

    /// The number of saved pages, before any is compared.
    var savedPages: Int { saved.count }

    /// Compares a rebuilt page, once.
    mutating func add(rebuilt key: StateKey, _ value: [UInt8]) {
        switch saved.removeValue(forKey: key) {
        case nil: differences[key] = .notSaved
        case let digest?: if digest != SHA256Hash.digest(value) { differences[key] = .content }
        }
    }

    /// The differences by name, after every rebuilt page was compared.
    var pages: [RebuildReport.Page] {
        let all = differences.merging(saved.mapValues { _ in .savedOnly }) { first, _ in first }
        return all.sorted { $0.key < $1.key }.map { RebuildReport.Page(name: "\($0.key)", difference: $0.value) }
    }
}

/// The samples of a projection on the metrics page, by name and labels.
struct CounterValues: Equatable {
    /// Memory depends on the history of a table, not only on its content.
    private static let unstable: Set<String> = ["dnp_telemetry_remembered_identities_bytes"]

    private(set) var samples: [String: String] = [:]

    init(_ projection: LedgerProjection) {
        let registry = MetricsRegistry(now: { 0 })
        let own = Set(registry.descriptors.map(\.name))
        var metrics = ProjectionMetrics(registry, created: 0, journal: nil)
        metrics.publish(projection)
        let names = Set(registry.descriptors.map(\.name)).subtracting(own).subtracting(Self.unstable)
        for line in String(decoding: registry.exposition(names: names), as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { continue }
            samples[String(line[..<space])] = String(line[line.index(after: space)...])
        }
    }

    /// The differences by name; nil for a sample that one side lacks.
    func differences(from rebuilt: CounterValues) -> [RebuildReport.Counter] {
        Set(samples.keys).union(rebuilt.samples.keys).sorted().compactMap { name in
            let saved = samples[name]
            let other = rebuilt.samples[name]
            return saved == other ? nil : RebuildReport.Counter(name: name, saved: saved, rebuilt: other)
        }
    }
}
