// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The exemplars of one series: made when the first one comes, so that a series without any pays for two words only.
///
/// A scrape asks a flag first, because `AtomicLazyReference.load()` takes some 30 nanoseconds.
struct ExemplarShelf: ~Copyable, Sendable {
    private let kept = AtomicLazyReference<KeptExemplars>()
    private let used = Atomic(false)

    /// Keeps `exemplar` as the last one of its place, of which the series has `places`.
    func keep(_ exemplar: Exemplar, at place: Int, of places: Int) {
        let kept = kept.load() ?? kept.storeIfNil(KeptExemplars(places: places))
        kept.keep(exemplar, at: place)
        used.store(true, ordering: .releasing)
    }

    /// Keeps `exemplar` among the latest of a histogram's sparse buckets.
    func keepRecent(_ exemplar: Exemplar, of places: Int) {
        let kept = kept.load() ?? kept.storeIfNil(KeptExemplars(places: places))
        kept.keepRecent(exemplar)
        used.store(true, ordering: .releasing)
    }

    /// Whether there is any; asked first by a loop over thousands of series, which then counts no reference for those
    /// without.
    @inline(__always)
    var isUsed: Bool { used.load(ordering: .acquiring) }

    /// Appends what is kept to those of a scrape, as those of the `series`-th one of its family.
    func copy(series: Int, into scraped: inout ScrapedExemplars) {
        kept.load()?.copy(series: series, into: &scraped)
    }
}

/// The last exemplar of each place, and the latest ones wherever they belong.
///
/// A scrape takes the arrays as they are, so that it holds the lock for no longer than two retains.
private final class KeptExemplars: Sendable {
    private struct State {
        var places: [Exemplar?]
        var recent: [Exemplar] = []
        var next = 0
    }

    /// Exemplars kept for the sparse buckets of a histogram.
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
