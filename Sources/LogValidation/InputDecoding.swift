// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// Decodes inputs in pieces, on the reading thread.
struct InputDecoding: Sendable {
    let options: JudgementOptions
    let pseudonyms: EphemeralPseudonyms
    let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - host: the hash of the device's own host, as the inputs of it so far name it (`LogParser.ownHost`).
    ///   - emit: called with the decoded pieces in order.
    ///   - progress: called after each piece with the bytes and lines of the input read so far.
    /// - Returns: what the input held.
    func decode(
        _ input: consuming InputBytes,
        named name: String,
        source: Pseudonym?,
        host: inout UInt64,
        emit: (InputPiece) -> Void,
        progress: (_ bytes: Int, _ lines: UInt64) -> Void
    ) throws(InputError) -> JudgedInput {
        var chunks = LineChunks(input, isLive: options.observer != nil)
        try chunks.checkFormat()
        var lines = options.lines
        lines.source = source
        if options.format.wrapper == nil || options.format.wrapper == .events {
            if try chunks.beginDocument() { return try decodeDocument(&chunks, lines, named: name, emit: emit) }
        }
        return try decodeLines(&chunks, lines, named: name, host: &host, emit: emit, progress: progress)
    }

    private func decodeLines(
        _ chunks: inout LineChunks,
        _ lines: LogDecoderOptions,
        named name: String,
        host: inout UInt64,
        emit: (InputPiece) -> Void,
        progress: (_ bytes: Int, _ lines: UInt64) -> Void
    ) throws(InputError) -> JudgedInput {
        var parser = LogParser(lines, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
        parser.ownHost = host
        defer { host = parser.ownHost }
        while try chunks.next({ emit(.lines(parser.parse($0, readAt: now()))) }) {
            progress(chunks.consumed, parser.counts.read)
        }
        return JudgedInput(parser, named: name)
    }

    /// Decodes a supposed document without events as the records of a log that it holds, or as lines; nil when none of them
    /// is recognised.
    private func decodeAsLines(
        _ bytes: [UInt8],
        _ lines: LogDecoderOptions,
        named name: String,
        emit: (InputPiece) -> Void
    ) -> JudgedInput? {
        for bytes in [LogRecords.lines(of: bytes.span), bytes].compactMap(\.self) {
            var parser = LogParser(lines, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
            let parsed = parser.parse(bytes.span, readAt: now())
            guard parser.counts.recognised > 0 else { continue }
            emit(.lines(parsed))
            return JudgedInput(parser, named: name)
        }
        return nil
    }

    private func decodeDocument(
        _ chunks: inout LineChunks,
        _ lines: LogDecoderOptions,
        named name: String,
        emit: (InputPiece) -> Void
    ) throws(InputError) -> JudgedInput {
        guard let bytes = try chunks.whole(limit: JSONDocuments.limit) else {
            throw InputError(
                input: name,
                problem: "a JSON document of more than \(JSONDocuments.limit >> 20) MiB; write one event on each line, "
                    + "as `jq -c '.events[]? // .[]?'` does"
            )
        }
        let decoded = JSONEventDecoder.decode(
            bytes.span,
            framing: .document,
            receivedAt: now(),
            pseudonyms: pseudonyms,
            identityKey: pseudonyms.identityKey,
            installation: lines.source,
            reportsPlaces: lines.reportsPlaces
        )
        if decoded.events.count == 0, let first = decoded.rejections.first {
            if let judged = decodeAsLines(bytes, lines, named: name, emit: emit) { return judged }
            if decoded.rejections.allSatisfy({ !$0.isOfEvent }) {
                throw InputError(input: name, problem: "no event in this JSON document can be read; \(first)")
            }
        }
        emit(.events(decoded))
        var judged = JudgedInput(name: name)
        judged.lines.read = UInt64(decoded.received)
        judged.lines.recognised = UInt64(decoded.events.count)
        judged.lines.unrecognised = UInt64(decoded.rejected)
        if options.explains {
            judged.unrecognised = decoded.rejections.prefix(JudgementOptions.explainedLines).map {
                UnexplainedLine(number: UInt64($0.index) + 1, text: "", why: $0.description)
            }
        }
        return judged
    }
}

extension Rejection {
    /// Whether what was rejected is an event, by its kind, and not some other JSON.
    fileprivate var isOfEvent: Bool {
        switch reason {
        case .malformedJSON, .truncated, .notAnObject, .invalidUTF8, .tooDeep: false
        case .missingField: field != .event
        case .wrongType: field != .event && field != .events
        default: true
        }
    }
}

extension JudgedInput {
    fileprivate init(_ parser: LogParser, named name: String) {
        self.init(name: name, lines: parser.counts)
        unrecognised = parser.unrecognised.map {
            UnexplainedLine(number: $0.number, text: $0.text, why: $0.problem)
        }
    }
}
