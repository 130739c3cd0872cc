// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One observation kept beside a total, with labels that lead to its trace (OpenMetrics 1.0, "Exemplars").
///
/// Everyone who may scrape can read its label values: they must not hold secrets or personal data.
public struct Exemplar: Sendable, Hashable {
    /// A label of an exemplar.
    public struct Label: Sendable, Hashable {
        /// The name: `[a-zA-Z_][a-zA-Z0-9_]*`.
        public let name: String
        /// The value: any text.
        public let value: String
    }

    /// The maximum code points of all label names and values together (OpenMetrics 1.0, "Exemplars").
    public static var maximumCodePoints: Int { 128 }

    /// The labels, in the order given.
    public let labels: [Label]
    /// The observed value, in the unit of the metric; for a counter, the amount added.
    public let value: Double
    /// When it was observed, in microseconds since 1970.
    public let timestamp: Int64

    /// Creates an exemplar that every format can show.
    ///
    /// - Parameters:
    ///   - labels: Legal, distinct names with any values; at most 128 Unicode code points in all.
    ///   - value: A finite number.
    ///   - timestamp: Microseconds since 1970, from 1970 to 9999.
    public init(
        labels: [(name: String, value: String)],
        value: Double,
        timestamp: Int64
    ) throws(ExemplarError) {
        var names: Set<String> = []
        var codePoints = 0
        for label in labels {
            guard Self.isLegal(label.name) else { throw .invalidLabelName }
            guard names.insert(label.name).inserted else { throw .repeatedLabelName }
            codePoints += label.name.unicodeScalars.count + label.value.unicodeScalars.count
            guard codePoints <= Self.maximumCodePoints else { throw .tooLong }
        }
        guard value.isFinite else { throw .valueIsNotFinite }
        guard 0..<Self.endOfTime ~= timestamp else { throw .timestampOutOfRange }
        self.labels = labels.map { Label(name: $0.name, value: $0.value) }
        self.value = value
        self.timestamp = timestamp
    }

    /// The start of the year 10,000, the first time that a protobuf timestamp cannot hold.
    private static var endOfTime: Int64 { 253_402_300_800_000_000 }

    /// Names that need no escaping in any format.
    private static func isLegal(_ name: String) -> Bool {
        let letters = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: false
            }
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return letters && !name.utf8.starts(with: "__".utf8) && name.utf8.first.map { !digits.contains($0) } ?? false
    }
}

/// Why values do not make an exemplar.
public enum ExemplarError: Error, Sendable, Hashable, CaseIterable {
    /// A label name is not `[a-zA-Z_][a-zA-Z0-9_]*`, or begins with `__`, which is reserved for Prometheus.
    case invalidLabelName
    /// A label name is repeated.
    case repeatedLabelName
    /// Names and values have more than 128 Unicode code points in total.
    case tooLong
    /// The value is infinite or not a number.
    case valueIsNotFinite
    /// The time is before 1970 or after 9999.
    case timestampOutOfRange
}

extension ExemplarError: CustomStringConvertible {
    /// What was expected.
    public var description: String {
        switch self {
        case .invalidLabelName: "expected label names of letters, digits and '_' that do not start with a digit or '__'"
        case .repeatedLabelName: "expected each label name once"
        case .tooLong: "expected at most \(Exemplar.maximumCodePoints) code points in all names and values"
        case .valueIsNotFinite: "expected a finite value"
        case .timestampOutOfRange: "expected a time between the years 1970 and 9999, in microseconds since 1970"
        }
    }
}

/// The exemplars of one series, allocated with the first one so that a series without any takes two words.
///
/// A scrape checks a flag first, because `AtomicLazyReference.load()` takes about 30 nanoseconds.
struct ExemplarStore: ~Copyable, Sendable {
    private let kept = AtomicLazyReference<KeptExemplars>()
    private let used = Atomic(false)

    /// Keeps `exemplar` as the latest one of its place; the series has `places`.
    func keep(_ exemplar: Exemplar, at place: Int, of places: Int) {
        let kept = kept.load() ?? kept.storeIfNil(KeptExemplars(places: places))
        kept.keep(exemplar, at: place)
        used.store(true, ordering: .releasing)
    }

    /// Keeps `exemplar` among the latest ones of the native buckets.
    func keepRecent(_ exemplar: Exemplar, of places: Int) {
        let kept = kept.load() ?? kept.storeIfNil(KeptExemplars(places: places))
        kept.keepRecent(exemplar)
        used.store(true, ordering: .releasing)
    }

    /// Whether there is any exemplar. Loops over thousands of series check it first, which avoids counting a reference
    /// for those without.
    @inline(__always)
    var isUsed: Bool { used.load(ordering: .acquiring) }

    /// Appends the exemplars to those of a scrape, as those of series number `series` in its family.
    func copy(series: Int, into scraped: inout ScrapedExemplars) {
        kept.load()?.copy(series: series, into: &scraped)
    }
}

/// The latest exemplar of each place, and the latest ones overall.
///
/// A scrape copies the arrays, so that it holds the lock for two retains only.
private final class KeptExemplars: Sendable {
    private struct State {
        var places: [Exemplar?]
        var recent: [Exemplar] = []
        var next = 0
    }

    /// The number of exemplars kept for native buckets.
    private static var maximumRecent: Int { 10 }

    private let state: Mutex<State>

    init(places: Int) {
        state = Mutex(State(places: Array(repeating: nil, count: places)))
    }

    func keep(_ exemplar: Exemplar, at place: Int) {
        state.withLock { $0.places[place] = exemplar }
    }

    func keepRecent(_ exemplar: Exemplar) {
        state.withLock { state in
            if state.recent.count < Self.maximumRecent {
                state.recent.append(exemplar)
            } else {
                state.recent[state.next] = exemplar
                state.next = (state.next + 1) % Self.maximumRecent
            }
        }
    }

    func copy(series: Int, into scraped: inout ScrapedExemplars) {
        let (places, recent) = state.withLock { ($0.places, $0.recent) }
        for (place, exemplar) in places.enumerated() {
            if let exemplar { scraped.append(ScrapedExemplar(exemplar, series: series, place: place)) }
        }
        for exemplar in recent {
            scraped.append(ScrapedExemplar(exemplar, series: series, place: ScrapedExemplar.recent))
        }
    }
}
