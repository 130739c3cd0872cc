// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import HTTPTypes
internal import Hashing
internal import Hummingbird
internal import MetricsRegistry
internal import NIOCore

/// A response that a browser may keep and ask for again with `If-None-Match`, compressed where the client accepts it.
struct ConditionalResponse: Sendable {
    /// How long a browser may use it without asking.
    enum Freshness: String {
        /// It asks each time; 304 answers where nothing changed.
        case asksEachTime = "no-cache"
        /// The name changes with the content.
        case immutable = "public, max-age=31536000, immutable"
    }

    var contentType: String
    var bytes: [UInt8]
    /// The compressed form; nil where it is not smaller.
    var gzip: [UInt8]?
    /// The hash of the bytes.
    var hash: String
    var freshness = Freshness.asksEachTime
    /// The headers besides Accept-Encoding that it depends on.
    var varies = ""

    /// - Returns: 304 where the client has it, else 200; the router takes the body away for HEAD.
    func response(to request: Request) -> Response {
        let isCompressed =
            gzip != nil && ContentCoding.negotiated(acceptEncoding: request.headers[.acceptEncoding]) == .gzip
        let tag = isCompressed ? "\"\(hash)-gzip\"" : "\"\(hash)\""
        var headers: HTTPFields = [
            .eTag: tag, .cacheControl: freshness.rawValue,
            .vary: varies.isEmpty ? "Accept-Encoding" : "\(varies), Accept-Encoding",
        ]
        if Self.isListed(tag, in: request.headers[.ifNoneMatch]) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = contentType
        if isCompressed { headers[.contentEncoding] = ContentCoding.gzip.rawValue }
        return Response(
            status: .ok,
            headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: isCompressed ? gzip ?? bytes : bytes))
        )
    }

    /// Whether a client has what a tag stands for, by the weak comparison (RFC 9110, 13.1.2).
    private static func isListed(_ tag: String, in header: String?) -> Bool {
        guard let header, header.utf8.count <= 8_192 else { return false }
        return header.split(separator: ",").contains { element in
            let known = element.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return known == "*" || known == tag || known.dropFirst(2) == tag && known.hasPrefix("W/")
        }
    }
}

extension ConditionalResponse {
    /// A file of the console.
    init(_ file: ConsoleSite.File, _ freshness: Freshness, varies: String = "") {
        self.init(
            contentType: file.contentType,
            bytes: file.bytes,
            gzip: file.gzip,
            hash: file.hash,
            freshness: freshness,
            varies: varies
        )
    }

    /// An answer of the API.
    init(json bytes: [UInt8]) {
        self.init(
            contentType: "application/json",
            bytes: bytes,
            gzip: GzipBody.compress(bytes),
            hash: String(SHA256Hash.digest(bytes).hexadecimal.prefix(32))
        )
    }
}
