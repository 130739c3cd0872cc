// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import Hashing

/// The body of one request, with the place of its events in the input.
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

    /// The two halves of a batch that is too large; nil if it can't be divided.
    var halves: (SendBatch, SendBatch)? {
        guard format == .lines else { return nil }
        let ends = lineEnds
        return pieces(after: ends.count / 2, of: ends, key: key)
    }

    /// Two pieces of about so many parts of a million and the rest, under keys of their own; nil if it can't be divided.
    func pieces(at partsPerMillion: Int64) -> (SendBatch, SendBatch)? {
        guard format == .lines else { return nil }
        let ends = lineEnds
        let lines = max(1, min(ends.count - 1, ends.count * Int(partsPerMillion) / 1_000_000))
        return pieces(after: lines, of: ends, key: "\(key)-\(lines)")
    }

    /// Where each line ends, its line feed included.
    private var lineEnds: [Int] {
        body.indices.filter { body[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    }

    private func pieces(after lines: Int, of ends: [Int], key: String) -> (SendBatch, SendBatch)? {
        guard ends.count > 1 else { return nil }
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

    /// The place of a rejected event in words: "line 17".
    func place(of index: Int) -> String {
        switch origin {
        case .document: "event \(index + 1)"
        case .lines(let numbers): numbers.indices.contains(index) ? "line \(numbers[index])" : "event \(index + 1)"
        case .log(let first): "line \(first + UInt64(max(index, 0)))"
        case .decoded(let last): "up to line \(last)"
        }
    }
}

/// A batch as it is posted.
struct SendRequest: Sendable {
    let body: [UInt8]
    let headers: [(String, String)]

    init(_ batch: SendBatch, compresses: Bool, source: SendSource? = nil) {
        var headers = [("Content-Type", batch.format.contentType), ("Idempotency-Key", batch.key)]
        if let source { headers.append((source.header, source.value)) }
        if compresses, let compressed = GzipBody.compress(batch.body) {
            body = compressed
            headers.append(("Content-Encoding", "gzip"))
        } else {
            body = batch.body
        }
        self.headers = headers
    }
}

/// Generates the idempotency keys of batches.
///
/// A key is a hash of all batches up to its own, so sending an input again repeats the keys, and no key is ever used with
/// another body.
struct BatchKeys: Sendable {
    private var hash = SHA256Hash()

    mutating func next(_ format: SendBatch.Format, _ body: [UInt8]) -> String {
        hash.update(Array("\(format.contentType) \(body.count)\n".utf8))
        hash.update(body)
        return "send-" + hash.digest.hexadecimal
    }
}

/// Collects lines of JSON into batches.
struct LineBatches: Sendable {
    /// Batches stay below the size from which the collector limits the compression ratio.
    static let mostBytes = 1 << 20
    static let mostLines = 5_000
    /// How long a line waits for further ones.
    static let longestWait = Duration.seconds(1)

    private var body: [UInt8] = []
    private var numbers: [UInt64] = []
    private var isDecoded = false
    private var begun = Duration.zero

    var isEmpty: Bool { numbers.isEmpty }

    /// Adds a line without its line feed.
    ///
    /// - Parameters:
    ///   - number: where it stands in the input, or of what line it was made.
    ///   - isDecoded: whether it was made of lines.
    /// - Returns: the batch before it, where the line has no room in it.
    mutating func add(
        _ line: ArraySlice<UInt8>,
        number: UInt64,
        isDecoded: Bool,
        now: Duration,
        _ keys: inout BatchKeys
    ) -> SendBatch? {
        var full: SendBatch?
        if !isEmpty,
            body.count + line.count + 1 > Self.mostBytes || numbers.count >= Self.mostLines
                || isDecoded != self.isDecoded
        {
            full = take(&keys)
        }
        if isEmpty { begun = now }
        self.isDecoded = isDecoded
        body += line
        body.append(UInt8(ascii: "\n"))
        numbers.append(number)
        return full
    }

    /// The batch whose lines have waited long enough.
    mutating func due(now: Duration, _ keys: inout BatchKeys) -> SendBatch? {
        now - begun >= Self.longestWait ? take(&keys) : nil
    }

    /// All that was gathered; nil where there is nothing.
    mutating func take(_ keys: inout BatchKeys) -> SendBatch? {
        guard let last = numbers.last else { return nil }
        defer {
            body = []
            numbers = []
        }
        let key = keys.next(.lines, body)
        return SendBatch(
            format: .lines,
            body: body,
            origin: isDecoded ? .decoded(upTo: last) : .lines(numbers),
            key: key
        )
    }
}
