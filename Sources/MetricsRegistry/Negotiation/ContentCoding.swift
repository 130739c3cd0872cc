// SPDX-License-Identifier: Apache-2.0

/// How the body of a response is coded.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// As it is.
    case identity
    /// Compressed with gzip.
    case gzip

    /// The coding for a request with this Accept-Encoding header; several headers are joined by commas first.
    ///
    /// gzip where the header allows it, under that name, as `x-gzip` or by `*`, and gives identity no greater weight.
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
