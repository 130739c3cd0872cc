// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A whole request of the simplest form, about which there can be no two opinions: one that must be answered.
///
/// Read by rules of its own that are narrower than HTTP's: what they refuse may be a request nonetheless.
struct PlainRequest {
    let method: String
    let path: String
    let fields: [String: String]
    let body: [UInt8]

    private static let methods = ["GET", "HEAD", "POST", "OPTIONS"]
    /// Fields that change nothing about the framing of the request or the answer.
    private static let names = [
        "host", "content-length", "content-type", "transfer-encoding", "connection", "idempotency-key", "accept",
        "x-installation-id",
    ]

    /// The requests at the beginning of what a client sends.
    ///
    /// - Returns: the requests, and whether nothing comes behind them.
    static func all(in bytes: [UInt8]) -> (requests: [PlainRequest], isWhole: Bool) {
        var rest = bytes[...]
        var requests: [PlainRequest] = []
        while !rest.isEmpty, let request = PlainRequest(&rest) {
            requests.append(request)
            if request.isLast { return (requests, true) }
        }
        return (requests, rest.isEmpty)
    }

    /// Whether the client wants no answer behind that of this one.
    var isLast: Bool { fields["connection"] == "close" }

    private init?(_ rest: inout ArraySlice<UInt8>) {
        guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = rest[rest.startIndex..<end.lowerBound]
        guard head.count <= 4_096, head.allSatisfy({ $0 == 0x0D || $0 == 0x0A || (0x20...0x7E).contains($0) }) else {
            return nil
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines[0].components(separatedBy: " ")
        guard start.count == 3, Self.methods.contains(start[0]), start[2] == "HTTP/1.1",
            start[1].wholeMatch(of: #/\/[a-z0-9\/?=&-]*/#) != nil
        else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let match = line.wholeMatch(of: #/([A-Za-z-]+): ([A-Za-z0-9\/;=.+_ -]*[A-Za-z0-9+])/#) else {
                return nil
            }
            let name = match.1.lowercased()
            guard Self.names.contains(name), fields.updateValue(String(match.2), forKey: name) == nil else {
                return nil
            }
        }
        guard fields["host"] != nil, [nil, "close", "keep-alive"].contains(fields["connection"]) else { return nil }
        var body = rest[end.upperBound...]
        switch (fields["content-length"], fields["transfer-encoding"]) {
        case (nil, nil): body = body.prefix(0)
        case (let length?, nil):
            guard length.count <= 5, let length = Int(length), length <= body.count else { return nil }
            body = body.prefix(length)
        case (nil, "chunked"?):
            guard let content = ChunkedBody.take(from: &body) else { return nil }
            self.init(start, fields, content)
            rest = body
            return
        default: return nil
        }
        self.init(start, fields, Array(body))
        rest = rest[body.endIndex...]
    }

    private init(_ start: [String], _ fields: [String: String], _ body: [UInt8]) {
        (method, path, self.fields, self.body) = (start[0], start[1], fields, body)
    }
}

/// A chunked body without extensions and trailers.
enum ChunkedBody {
    /// Takes a whole body; nil where there is none.
    static func take(from bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
        var rest = bytes
        var body: [UInt8] = []
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let digits = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            guard (1...6).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit),
                let size = Int(digits, radix: 16)
            else { return nil }
            rest = rest[end.upperBound...]
            guard rest.count >= size + 2, rest.dropFirst(size).starts(with: Array("\r\n".utf8)) else { return nil }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
            guard size == 0 else { continue }
            bytes = rest
            return body
        }
        return nil
    }
}
