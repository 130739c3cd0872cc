// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import NIOCore

/// A page as it is sent.
struct ScrapedPage: Sendable {
    /// A page that is smaller is not compressed: it takes one packet anyway.
    private static let leastCompressed = 1_024

    let bytes: ByteBuffer
    let coding: ContentCoding
    /// The size of the page before it was compressed.
    let plainBytes: Int

    init(_ request: ScrapeRequest, of registry: MetricsRegistry, _ compressor: PageCompressor) {
        (bytes, coding, plainBytes) = registry.withExposition(request.format, names: request.names) { page in
            if request.coding == .gzip, page.count >= Self.leastCompressed,
                let member = compressor.compress(page, as: request.names == nil ? request.format : nil)
            {
                return (ByteBuffer(bytes: member), .gzip, page.count)
            }
            var plain = ByteBuffer()
            unsafe plain.writeBytes(page.bytes)
            return (plain, .identity, page.count)
        }
    }
}
