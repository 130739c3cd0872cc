// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Replaces `page` by the metrics in `format`: families in the order of their names, series in the order of their
    /// label values.
    ///
    /// Collectors run first; then all values are copied as of one moment between two calls of `update(_:)`; then the page
    /// is written, over the bytes that `page` holds. The thread is blocked meanwhile; in an asynchronous function use
    /// `page(_:names:)`. A page that is used again is allocated again only where it grows.
    ///
    /// - Parameter names: The families to show; nil for all. Unknown names show nothing.
    public func exposition(
        into page: inout [UInt8],
        format: ExpositionFormat = .text004,
        names: Set<String>? = nil
    ) {
        buffers.borrow { buffer in
            capture(into: &buffer, format, names: names)
            buffer.render(format, over: &page)
        }
    }

    /// The metrics in `format`, by default Prometheus text 0.0.4; see `exposition(into:format:names:)`.
    public func exposition(_ format: ExpositionFormat = .text004, names: Set<String>? = nil) -> [UInt8] {
        var page: [UInt8] = []
        exposition(into: &page, format: format, names: names)
        return page
    }

    /// Gives `body` the metrics in `format` in a buffer of the registry's; see `exposition(into:format:names:)`.
    /// Allocates nothing once such a page has been written before.
    public func withExposition<Result>(
        _ format: ExpositionFormat = .text004,
        names: Set<String>? = nil,
        _ body: (Span<UInt8>) -> Result
    ) -> Result {
        buffers.borrow { buffer in
            capture(into: &buffer, format, names: names)
            var page: [UInt8] = []
            swap(&page, &buffer.page)
            buffer.render(format, over: &page)
            buffer.page = page
            return body(buffer.page.span)
        }
    }

    private func capture(into buffer: inout ScrapeBuffer, _ format: ExpositionFormat, names: Set<String>?) {
        catalog.withLock { $0.collectors }.run(milliseconds: limits.collectionMilliseconds)
        let families = catalog.withLock { $0.ordered }
        stores.read { buffer.capture(families, format, names: names) }
    }
}
