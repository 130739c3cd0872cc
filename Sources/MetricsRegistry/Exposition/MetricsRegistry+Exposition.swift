// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension MetricsRegistry {
    /// Replaces `page` by the metrics as Prometheus text 0.0.4: families in the order of their names, series in the
    /// order of their label values.
    ///
    /// Collectors run first; then all values are copied while no `update(_:)` runs; then the page is written, over the
    /// bytes that `page` holds. A page that is used again is allocated again only where it grows.
    ///
    /// - Parameter names: The families to show; nil for all. Unknown names show nothing.
    public func exposition(into page: inout [UInt8], names: Set<String>? = nil) {
        buffers.borrow { buffer in
            capture(into: &buffer, names: names)
            buffer.renderText(over: &page)
        }
    }

    /// The metrics as Prometheus text 0.0.4, in bytes of UTF-8; see `exposition(into:names:)`.
    public func exposition(names: Set<String>? = nil) -> [UInt8] {
        var page: [UInt8] = []
        exposition(into: &page, names: names)
        return page
    }

    /// Gives `body` the metrics as Prometheus text 0.0.4 in a buffer of the registry's; see
    /// `exposition(into:names:)`. Allocates nothing once such a page has been written before.
    public func withExposition<Result>(names: Set<String>? = nil, _ body: (Span<UInt8>) -> Result) -> Result {
        buffers.borrow { buffer in
            capture(into: &buffer, names: names)
            var page: [UInt8] = []
            swap(&page, &buffer.page)
            buffer.renderText(over: &page)
            buffer.page = page
            return unsafe buffer.page.withUnsafeBufferPointer { body(unsafe Span(_unsafeElements: $0)) }
        }
    }

    private func capture(into buffer: inout ScrapeBuffer, names: Set<String>?) {
        for collect in catalog.withLock({ $0.collectors }) { collect() }
        update {
            let families = catalog.withLock { $0.ordered }
            buffer.capture(families, names: names)
        }
    }
}
