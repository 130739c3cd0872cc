// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import TelemetryEvents

/// `POST /v1/events` (SPEC 8): decodes on the request's thread, answers once the events are durable.
struct EventsRoute: Sendable {
    let configuration: ServeConfiguration
    let key: InstallationKey
    let identityKey: IdentityKey
    let writer: GroupCommit<IngestProcessor>
    let budget: ByteBudget
    let now: @Sendable () -> Int64

    /// What is set aside of the budget for a body that does not tell its size.
    private static let undeclaredBody = 4 << 20

    func respond(to request: Request) async throws -> Response {
        let format = try format(of: request)
        let isCompressed = try isGzip(request)
        let lease = try reserve(for: request, isCompressed: isCompressed)
        defer { lease.giveBack() }

        var request = request
        let body = try await request.collectBody(upTo: configuration.maximumBody)
        let batch = try batchIdentity(request, body)
        let decoded = try decode(body, isCompressed: isCompressed, format: format)
        guard !decoded.isBlank else { throw Problem.emptyBody }
        let isUnreadable = decoded.events.count == 0 && decoded.rejected > 0
        let outcome = try await submit(.events(decoded, origin: EventOrigin(.http, format), batch: batch))
        switch outcome {
        case .keyReused: throw Problem.idempotencyKeyReused
        case .committed where isUnreadable: throw Problem.nothingReadable(decoded)
        case .committed(let accepted, let duplicates):
            return IngestAnswer.response(accepted: accepted, duplicates: duplicates, decoded)
        }
    }

    private func format(of request: Request) throws(Problem) -> EventFormat {
        let value = request.headers[.contentType] ?? ""
        let type = value.prefix { $0 != ";" }.trimmed.lowercased()
        switch type {
        case "application/json": return .json
        case "application/x-ndjson", "application/ndjson", "application/jsonl": return .ndjson
        default: throw .unsupportedType(type)
        }
    }

    private func isGzip(_ request: Request) throws(Problem) -> Bool {
        switch request.headers[.contentEncoding]?.trimmed.lowercased() ?? "identity" {
        case "identity", "": return false
        case "gzip", "x-gzip": return true
        default: throw .unsupportedEncoding
        }
    }

    private func reserve(for request: Request, isCompressed: Bool) throws(Problem) -> ByteBudget.Lease {
        let declared = request.headers[.contentLength].flatMap { Int($0) }
        if let declared, declared > configuration.maximumBody { throw .bodyTooLarge }
        let body = declared ?? min(Self.undeclaredBody, configuration.maximumBody)
        let expected = isCompressed ? min(body * 8, configuration.maximumDecompressedBody) : body
        guard let lease = budget.take(max(expected, 4_096)) else { throw .overloaded(retryAfter: 1) }
        return lease
    }

    private func batchIdentity(_ request: Request, _ body: ByteBuffer) throws(Problem) -> BatchIdentity? {
        guard let name = HTTPField.Name("Idempotency-Key"), let value = request.headers[name] else { return nil }
        let bytes = Array(value.utf8)
        guard (1...256).contains(bytes.count) else { throw .unusableIdempotencyKey }
        return BatchIdentity(
            key: identityKey.batch(idempotencyKey: bytes.span),
            keyAndBody: identityKey.batch(idempotencyKey: bytes.span, body: body.readableBytesUInt8Span)
        )
    }

    private func decode(_ body: ByteBuffer, isCompressed: Bool, format: EventFormat) throws(Problem) -> DecodedEvents {
        guard body.readableBytes > 0 else { throw .emptyBody }
        let framing: JSONEventDecoder.Framing = format == .ndjson ? .lines : .document
        let receivedAt = Timestamp(microseconds: now())
        if !isCompressed {
            return JSONEventDecoder.decode(
                body.readableBytesUInt8Span,
                framing: framing,
                receivedAt: receivedAt,
                pseudonyms: key,
                identityKey: identityKey
            )
        }
        do throws(GzipError) {
            let plain = try GzipDecoder.decode(
                body.readableBytesUInt8Span,
                maximumBytes: configuration.maximumDecompressedBody,
                maximumRatio: configuration.maximumCompressionRatio
            )
            return JSONEventDecoder.decode(
                plain.span,
                framing: framing,
                receivedAt: receivedAt,
                pseudonyms: key,
                identityKey: identityKey
            )
        } catch {
            throw Problem(error)
        }
    }

    private func submit(_ submission: IngestSubmission) async throws(Problem) -> IngestOutcome {
        do throws(SubmissionError) {
            return try await writer.submit(submission)
        } catch {
            throw Problem(error)
        }
    }
}

extension StringProtocol {
    /// Without the spaces and tabs around it (RFC 9110, optional white space).
    var trimmed: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
