// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

extension MetricsRegistry {
    /// The metrics in `format`, for who must not block a thread; see `exposition(into:format:names:)`.
    ///
    /// A scrape may wait for its collectors (`RegistryLimits.collectionMilliseconds`). It does so on a thread of its
    /// own, and none of Swift's concurrency is held up. A task that is cancelled gets its page all the same.
    public func page(_ format: ExpositionFormat = .text004, names: Set<String>? = nil) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            // A serial queue gets a thread beyond those that Dispatch shares with Swift's concurrency.
            DispatchQueue(label: "metrics-scrape").async {
                continuation.resume(returning: self.exposition(format, names: names))
            }
        }
    }
}
