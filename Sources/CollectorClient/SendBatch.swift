// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The body of one request, with what its events are found again by in the input.
struct SendBatch: Equatable, Sendable {
    enum Format: Sendable {
        case document, lines, log

        var contentType: String {
            switch self {
            case .document: "application/json"
            case .lines: "application/x-ndjson"
            case .log: "text/plain"
            }
        }
    }

    /// Where in the input the events of a batch stand; lines count from 1.
    enum Origin: Equatable, Sendable {
        /// All in one JSON document.
        case document
        /// Each on a line of its own.
        case lines([UInt64])
        /// On lines after one another; a collector names them by their place.
        case log(first: UInt64)
        /// Made of lines up to this one.
        case decoded(upTo: UInt64)
    }

    let format: Format
    let body: [UInt8]
    let origin: Origin
    /// The `Idempotency-Key`.
    let key: String

    /// The two halves of a batch that is too large for a collector; nil where it cannot be divided.
    var halves: (SendBatch, SendBatch)? {
        guard format == .lines else { return nil }
        var ends: [Int] = []
        for (index, byte) in body.enumerated() where byte == UInt8(ascii: "\n") { ends.append(index + 1) }
        guard ends.count > 1 else { return nil }
        let lines = ends.count / 2
        let cut = ends[lines - 1]
        var origins = (origin, origin)
        if case .lines(let numbers) = origin, numbers.count == ends.count {
            origins = (.lines(Array(numbers[..<lines])), .lines(Array(numbers[lines...])))
        }
        return (
            SendBatch(format: format, body: Array(body[..<cut]), origin: origins.0, key: key + "-1"),
            SendBatch(format: format, body: Array(body[cut...]), origin: origins.1, key: key + "-2")
        )
    }

    /// The place of a refused event in words: "line 17".
    func place(of index: Int) -> String {
        switch origin {
        case .document: "event \(index + 1)"
        case .lines(let numbers): numbers.indices.contains(index) ? "line \(numbers[index])" : "event \(index + 1)"
        case .log(let first): "line \(first + UInt64(max(index, 0)))"
        case .decoded(let last): "up to line \(last)"
        }
    }
}

/// Gives batches their keys: each is a function of all that was sent before it and of its own content, so that the same
/// input has the same keys whenever it is sent, and no key ever comes with another body.
struct BatchKeys: Sendable {
    private var sofar = SHA256()

    mutating func next(_ format: SendBatch.Format, _ body: [UInt8]) -> String {
        sofar.update(data: Array("\(format.contentType) \(body.count)\n".utf8))
        sofar.update(data: body)
        var key = "send-"
        for byte in sofar.finalize() {
            let digits = String(byte, radix: 16)
            key += byte < 0x10 ? "0" + digits : digits
        }
        return key
    }
}
