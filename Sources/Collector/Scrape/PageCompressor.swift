// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import MetricsRegistry
internal import Synchronization

/// Compresses pages, and remembers the last one of each format so that only what has changed is deflated again.
///
/// Several may be compressed at once: none waits for another's deflating.
final class PageCompressor: Sendable {
    private struct Remembered {
        var page: CompressedPage
        var bytes: Int
        var usedAt: UInt64
    }

    private struct State {
        var pages: [ExpositionFormat: Remembered] = [:]
        var bytes = 0
        var uses: UInt64 = 0
        var deflaters: [PageDeflater] = []

        mutating func use(_ format: ExpositionFormat?) -> CompressedPage {
            guard let format, let remembered = pages[format] else { return CompressedPage() }
            uses += 1
            pages[format]?.usedAt = uses
            return remembered.page
        }

        /// Remembers a page in place of the last one of its format and, where there is no room, of those least recently used.
        mutating func remember(
            _ page: CompressedPage,
            _ size: Int,
            as format: ExpositionFormat,
            atMost maximum: Int
        ) {
            forget(format)
            guard size <= maximum else { return }
            while bytes + size > maximum, let oldest = pages.min(by: { $0.value.usedAt < $1.value.usedAt }) {
                forget(oldest.key)
            }
            uses += 1
            pages[format] = Remembered(page: page, bytes: size, usedAt: uses)
            bytes += size
        }

        private mutating func forget(_ format: ExpositionFormat) {
            guard let forgotten = pages.removeValue(forKey: format) else { return }
            bytes -= forgotten.bytes
        }
    }

    private let maximumBytes: Int
    private let keptDeflaters: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximumBytes: of the pages that are remembered, both forms together.
    ///   - keptDeflaters: that wait for the next page; one takes some 260 KiB.
    init(maximumBytes: Int = 16 << 20, keptDeflaters: Int = 2) {
        self.maximumBytes = maximumBytes
        self.keptDeflaters = keptDeflaters
    }

    /// The page as one gzip member; nil when zlib has no memory for it.
    ///
    /// - Parameter format: what the page is remembered by; nil: it is not remembered.
    func compress(_ page: Span<UInt8>, as format: ExpositionFormat?) -> [UInt8]? {
        let (earlier, waiting) = state.withLock { ($0.use(format), $0.deflaters.popLast()) }
        guard let deflater = waiting ?? PageDeflater() else { return nil }
        let compressed = CompressedPage(page, after: earlier, with: deflater)
        let bytes = compressed?.bytes ?? 0
        state.withLock { state in
            if state.deflaters.count < keptDeflaters { state.deflaters.append(deflater) }
            guard let format, let compressed else { return }
            state.remember(compressed, bytes, as: format, atMost: maximumBytes)
        }
        return compressed?.member
    }

    /// The memory that the remembered pages take, in bytes.
    var bytes: Int { state.withLock { $0.bytes } }
}
