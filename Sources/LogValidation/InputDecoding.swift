// SPDX-License-Identifier: Apache-2.0

internal import LogInput
internal import TelemetryEvents

/// Reads one input from its first byte to its last, in pieces: the first of the two threads of a run. What the lines say is
/// bound to cycles on the other one.
struct InputDecoding {
    let options: JudgementOptions
    let pseudonyms: OneRunPseudonyms
    let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - emit: takes what was decoded, in order.
    ///   - progress: is told after each piece how many bytes of the input and lines have been read.
    /// - Returns: what the input held.
    func decode(
        _ input: consuming InputBytes,
        named name: String,
        emit: (InputPiece) -> Void,
        progress: (_ bytes: Int, _ lines: UInt64) -> Void
    ) throws(InputError) -> JudgedInput {
        var chunks = LineChunks(input)
        if options.format.wrapper == nil || options.format.wrapper == .events {
            if try chunks.beginDocument() { return try decodeDocument(&chunks, named: name, emit: emit) }
        }
        return try decodeLines(&chunks, named: name, emit: emit, progress: progress)
    }

    private func decodeLines(
        _ chunks: inout LineChunks,
        named name: String,
        emit: (InputPiece) -> Void,
        progress: (_ bytes: Int, _ lines: UInt64) -> Void
    ) throws(InputError) -> JudgedInput {
        var parser = LogParser(options.lines, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
        while try chunks.next({ emit(.lines(parser.parse($0, readAt: now()))) }) {
            progress(chunks.consumed, parser.counts.read)
        }
        return JudgedInput(parser, named: name)
    }

    /// Reads what began like a document and holds no event as lines; nil when the plugin wrote none of them.
    private func decodeAsLines(_ bytes: [UInt8], named name: String, emit: (InputPiece) -> Void) -> JudgedInput? {
        var parser = LogParser(options.lines, pseudonyms: pseudonyms, identityKey: pseudonyms.identityKey)
        let parsed = parser.parse(bytes.span, readAt: now())
        guard parser.counts.recognised > 0 else { return nil }
        emit(.lines(parsed))
        return JudgedInput(parser, named: name)
    }

    private func decodeDocument(
        _ chunks: inout LineChunks,
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
            identityKey: pseudonyms.identityKey
        )
        if decoded.events.count == 0, let first = decoded.rejections.first {
            if let judged = decodeAsLines(bytes, named: name, emit: emit) { return judged }
            throw InputError(input: name, problem: "no event in this JSON document can be read; \(first)")
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

/// A piece of an input.
enum InputPiece: Sendable {
    case lines(ParsedLog)
    case events(DecodedEvents)
    /// Nothing more comes of it.
    case end(JudgedInput)
}

extension JudgedInput {
    fileprivate init(_ parser: LogParser, named name: String) {
        self.init(name: name, lines: parser.counts)
        unrecognised = parser.unrecognised.map {
            UnexplainedLine(number: $0.number, text: $0.text, why: $0.problem)
        }
    }
}
