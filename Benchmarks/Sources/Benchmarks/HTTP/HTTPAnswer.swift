// SPDX-License-Identifier: Apache-2.0

/// A whole answer with a `Content-Length`.
struct HTTPAnswer {
    let status: Int
    let body: ArraySlice<UInt8>

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Reads an answer; nil while bytes are missing.
    init?(_ bytes: ArraySlice<UInt8>) throws {
        guard let end = Self.endOfHead(bytes) else { return nil }
        let head = String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self).lowercased()
        let lines = head.split(separator: "\r\n")
        let length = lines.first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).filter(\.isNumber)) }
        let status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
        guard let length, let status else { throw BenchmarkFailure("an answer of another kind came: \(head)") }
        guard bytes.count >= end - bytes.startIndex + length else { return nil }
        self.status = status
        body = bytes[end..<end + length]
    }

    private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex + 3
        while index < bytes.endIndex {
            if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10 { return index + 1 }
            index += 1
        }
        return nil
    }
}
