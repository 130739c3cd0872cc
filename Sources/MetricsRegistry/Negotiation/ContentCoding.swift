// SPDX-License-Identifier: Apache-2.0

/// The content coding of a response.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// Uncompressed.
    case identity
    /// Compressed with gzip.
    case gzip

    /// The coding for a request with this Accept-Encoding header; join several headers with commas.
    ///
    /// gzip if the header allows it, by that name, as `x-gzip` or by `*`, with at least the weight of identity.
    /// Otherwise identity, even for a client that refuses it. The first 64 codings within 8 KiB are read.
    public static func negotiated(acceptEncoding: String?) -> ContentCoding {
        guard let acceptEncoding else { return .identity }
        let codings = HeaderElement.list(acceptEncoding)
        func quality(_ names: String...) -> Int? {
            codings.filter { names.contains($0.value) }.map(\.quality).max()
        }
        let gzip = quality("gzip", "x-gzip") ?? quality("*") ?? 0
        return gzip > 0 && gzip >= quality("identity") ?? 0 ? .gzip : .identity
    }
}
