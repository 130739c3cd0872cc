// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Gzip
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import NIOCore
internal import TelemetryEvents
internal import TextOutput

/// `POST /v1/events`: decodes large bodies on separate threads, responds once the events are durable.
///
/// See docs/ingest-api.md.
struct EventsRoute: Sendable {
    let live: LiveConfiguration
    let key: InstallationKey
    let identityKey: IdentityKey
    let writer: GroupCommit<IngestProcessor>
    let budget: ByteBudget
    let security: RequestSecurity
    let anonymous: AnonymousDevice
    /// Whether the ledger may know events of senders by the identities of an earlier version.
    let looksBack: Bool
    let now: @Sendable () -> Int64

    private var configuration: ServeConfiguration { live.current }

    func respond(to request: Request, token: String?) async throws -> Response {
        let isDryRun = try DryRun.isAsked(by: request.uri.query)
        do {
            return try await respond(to: request, token: token, isDryRun: isDryRun)
        } catch var problem as Problem where isDryRun {
            problem.members += DryRun.mark
            throw problem
        }
    }

    private func respond(to request: Request, token: String?, isDryRun: Bool) async throws -> Response {
        let format = try format(of: request)
        let isCompressed = try isGzip(request)
        let lease = ByteBudget.Lease(budget, limit: configuration.maximumBytesInFlight)
        defer { lease.giveBack() }

        let body = try await collect(request, lease)
        guard body.readableBytes > 0 else { throw Problem.emptyBody }
        try admit()
        let (decoded, batch, earlier) =
            if LargeBodies.isLarge(body.readableBytes, isCompressed: isCompressed) {
                try await LargeBodies.run {
                    try decode(body, isCompressed: isCompressed, format, lease, request)
                }
            } else {
                try decode(body, isCompressed: isCompressed, format, lease, request)
            }
        guard !decoded.isBlank else { throw Problem.emptyBody }
        let charge = try security.charge(decoded.events.count + decoded.rejected, token: token, isDryRun: isDryRun)
        let isUnreadable = decoded.events.count == 0 && decoded.rejected > 0
        let outcome: IngestOutcome
        do throws(Problem) {
            outcome = try await submit(
                isDryRun
                    ? .dryRun(decoded, batch: batch, earlier: earlier)
                    : .events(decoded, origin: EventOrigin(.http, format), batch: batch, earlier: earlier)
            )
        } catch {
            if let charge { security.giveBack(charge) }
            throw error
        }
        switch outcome {
        case .keyReused: throw Problem.idempotencyKeyReused
        case .committed where isUnreadable: throw Problem.nothingReadable(decoded)
        case .committed(let accepted, let duplicates):
            return IngestAnswer.response(
                accepted: accepted,
                duplicates: duplicates,
                decoded,
                notes: notes(decoded, isDryRun: isDryRun),
                isDryRun: isDryRun
            )
        }
    }

    /// What the sender should know, though all is stored; also in the log, once.
    private func notes(_ decoded: DecodedEvents, isDryRun: Bool) -> [String] {
        if decoded.doubts.isEmpty { return [] }
        if !isDryRun { anonymous.warn(decoded.doubts, of: .http) }
        return [LineSender.http.sentence(decoded.doubts)]
    }

    /// Reads the body; received bytes count against the budget, not the declared length.
    private func collect(_ request: Request, _ lease: ByteBudget.Lease) async throws -> ByteBuffer {
        let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        let limit = configuration.maximumBody
        guard declared <= limit else { throw Problem.bodyTooLarge }
        var body = ByteBuffer()
        for try await part in request.body {
            guard body.readableBytes + part.readableBytes <= limit else { throw Problem.bodyTooLarge }
            guard lease.extend(by: part.readableBytes) else { throw Problem.overloaded(retryAfter: .seconds(1)) }
            body.writeImmutableBuffer(part)
        }
        return body
    }

    private func format(of request: Request) throws(Problem) -> EventFormat {
        let value = request.headers[.contentType] ?? ""
        let type = value.prefix { $0 != ";" }.trimmed.lowercased()
        switch type {
        case "application/json": return .json
        case "application/x-ndjson", "application/ndjson", "application/jsonl": return .ndjson
        case "text/plain": return .log
        default: throw .unsupportedType(isMissing: type.isEmpty)
        }
    }

    private func isGzip(_ request: Request) throws(Problem) -> Bool {
        switch request.headers[.contentEncoding]?.trimmed.lowercased() ?? "identity" {
        case "identity", "": return false
        case "gzip", "x-gzip": return true
        default: throw .unsupportedEncoding
        }
    }

    private func decode(
        _ body: ByteBuffer,
        isCompressed: Bool,
        _ format: EventFormat,
        _ lease: ByteBudget.Lease,
        _ request: Request
    ) throws(Problem) -> (DecodedEvents, BatchIdentity?, earlier: DecodedEvents?) {
        let sender = try Sender(request, key)
        guard isCompressed else { return try decode(body.readableBytesUInt8Span, format, sender, request) }
        let plain = try decompress(body, lease)
        return try decode(plain.span, format, sender, request)
    }

    private func decode(
        _ bytes: Span<UInt8>,
        _ format: EventFormat,
        _ sender: Sender,
        _ request: Request
    ) throws(Problem) -> (DecodedEvents, BatchIdentity?, earlier: DecodedEvents?) {
        let batch = try batchIdentity(request, bytes, sender)
        let decoded = decode(bytes, format, sender)
        guard looksBack, format != .log, sender.owner != nil else { return (decoded, batch, nil) }
        return (decoded, batch, decodeJSON(bytes, format, sender.namesOfEarlierVersions(key), of: nil))
    }

    private func decompress(_ body: ByteBuffer, _ lease: ByteBudget.Lease) throws(Problem) -> [UInt8] {
        let limits = configuration
        do throws(GzipError) {
            return try GzipDecoder.decode(
                body.readableBytesUInt8Span,
                maximumBytes: limits.maximumDecompressedBody,
                maximumRatio: limits.maximumCompressionRatio,
                mayGrow: { lease.extend(by: $0) }
            )
        } catch {
            throw Problem(error)
        }
    }

    private func decode(_ bytes: Span<UInt8>, _ format: EventFormat, _ sender: Sender) -> DecodedEvents {
        guard format != .log else { return decodeLines(bytes, Timestamp(microseconds: now()), sender) }
        return decodeJSON(bytes, format, key, of: sender.owner)
    }

    private func decodeJSON(
        _ bytes: Span<UInt8>,
        _ format: EventFormat,
        _ pseudonyms: any Pseudonymising,
        of owner: Pseudonym?
    ) -> DecodedEvents {
        JSONEventDecoder.decode(
            bytes,
            framing: format == .ndjson ? .lines : .document,
            receivedAt: Timestamp(microseconds: now()),
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: owner,
            apps: configuration.apps
        )
    }

    /// Decodes a log, or a self-contained piece of one.
    private func decodeLines(_ bytes: Span<UInt8>, _ receivedAt: Timestamp, _ sender: Sender) -> DecodedEvents {
        var options = configuration.logOptions(isLive: false)
        options.installation = sender.installation
        options.source = sender.source
        var decoder = LogDecoder(options, pseudonyms: key, identityKey: identityKey)
        var decoded = decoder.decode(bytes, readAt: receivedAt)
        decoded.append(decoder.flush(readAt: receivedAt))
        if decoder.isAnonymous { decoded.add(sender.isDryRun ? decoded.doubts : anonymous.doubts(decoded)) }
        return decoded
    }

    /// Identifies a batch by its `Idempotency-Key`, its sender and its decompressed body.
    private func batchIdentity(
        _ request: Request,
        _ bytes: Span<UInt8>,
        _ sender: Sender
    ) throws(Problem) -> BatchIdentity? {
        guard let name = HTTPField.Name("Idempotency-Key"), let value = request.headers[name] else { return nil }
        let key = Array(value.utf8)
        guard request.headers[values: name].count == 1, (1...256).contains(key.count) else {
            throw .unusableIdempotencyKey
        }
        let (installation, source) = (sender.installation, sender.source)
        return BatchIdentity(
            key: identityKey.batch(idempotencyKey: key.span, of: installation, from: source),
            keyAndBody: identityKey.batch(idempotencyKey: key.span, body: bytes, of: installation, from: source)
        )
    }

    /// Rejects an overload before the body is decoded, which is the most expensive step.
    private func admit() throws(Problem) {
        do throws(SubmissionError) {
            try writer.admit()
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

/// What the headers of a request say of events and lines that name no installation (docs/ingest-api.md).
private struct Sender {
    /// The longest id, as of `installationId` in an event, in bytes.
    private static let longestId = 256

    /// Of `X-Installation-Id`: all of them are of this installation.
    var installation: Pseudonym?
    /// Of `X-Source-Id`: they come from this file or stream, which is a device of its own.
    var source: Pseudonym?
    /// Whether nothing may be remembered of what is sent.
    let isDryRun: Bool
    /// What `send` appends to the devices that the lines of a source name.
    private let suffix: [UInt8]

    /// Whose events those are that name no installation.
    var owner: Pseudonym? { installation ?? source }

    init(_ request: Request, _ key: InstallationKey) throws(Problem) {
        installation = try Self.id(in: "X-Installation-Id", request).map { key.pseudonym(of: $0.span) }
        let source = try Self.id(in: "X-Source-Id", request)
        suffix = source.map { [UInt8(ascii: "@")] + $0.prefix(16) } ?? []
        self.source = source.map { Pseudonym(deviceOf: key.pseudonym(of: $0.span)) }
        isDryRun = try DryRun.isAsked(by: request.uri.query)
    }

    /// The names of devices as `send` told them before sources were devices of their own.
    func namesOfEarlierVersions(_ key: InstallationKey) -> any Pseudonymising {
        UnsuffixedNames(key: key, suffix: suffix)
    }

    private static func id(in header: String, _ request: Request) throws(Problem) -> [UInt8]? {
        guard let name = HTTPField.Name(header), let value = request.headers[name] else { return nil }
        let id = Array(value.trimmed.utf8)
        guard request.headers[values: name].count == 1, (1...longestId).contains(id.count) else {
            throw .unusableId(header: header, longest: longestId)
        }
        return id
    }
}

/// Takes the source from the names of devices before they become pseudonyms.
private struct UnsuffixedNames: Pseudonymising {
    let key: InstallationKey
    let suffix: [UInt8]

    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        let end = bytes.count - suffix.count
        guard end > 0, suffix.indices.allSatisfy({ bytes[end + $0] == suffix[$0] }) else {
            return key.pseudonym(of: bytes)
        }
        return key.pseudonym(of: bytes.extracting(0..<end))
    }
}
