// SPDX-License-Identifier: Apache-2.0

/// Gathers lines of JSON until they make a batch.
struct LineBatches: Sendable {
    /// The size from which on a body is taken for an attack when it is compressed well; batches stay below.
    static let mostBytes = 1 << 20
    static let mostLines = 5_000
    /// How long a line waits for others.
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
