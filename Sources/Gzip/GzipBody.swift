// SPDX-License-Identifier: Apache-2.0

/// A body as gzip, where that is worth it.
package enum GzipBody {
    /// Smaller bodies fit one packet anyway.
    package static let least = 1_024
    /// A collector takes what is compressed better for an attack (200 by default), unless it is small.
    private static let highestRatio = 150
    private static let piece = 1 << 20

    /// Nil where the body should leave as it is.
    package static func compress(_ body: [UInt8]) -> [UInt8]? {
        guard body.count >= least, let deflater = PageDeflater() else { return nil }
        var chunks: [DeflatedChunk] = []
        var start = 0
        while start < body.count {
            let end = min(start + piece, body.count)
            guard let chunk = deflater.deflate(body.span.extracting(start..<end)) else { return nil }
            chunks.append(chunk)
            start = end
        }
        let compressed = GzipMember.join(chunks)
        guard compressed.count < body.count else { return nil }
        let isUnsuspicious =
            body.count <= GzipDecoder.unsuspiciousBytes || body.count / compressed.count <= highestRatio
        return isUnsuspicious ? compressed : nil
    }
}
