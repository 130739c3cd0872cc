// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Gzip
internal import HTTPTypes
internal import TelemetryEvents

extension Problem {
    static let emptyBody = Problem(
        status: .badRequest,
        type: "empty-body",
        title: "Empty body",
        detail: "Expected events as JSON or NDJSON, or log lines, found nothing."
    )

    static let unusableIdempotencyKey = Problem(
        status: .badRequest,
        type: "idempotency-key",
        title: "Unusable Idempotency-Key",
        detail: "Expected one Idempotency-Key of 1 to 256 bytes."
    )

    static func unusableId(header: String, longest: Int) -> Problem {
        Problem(
            status: .badRequest,
            type: "installation-id",
            title: "Unusable \(header)",
            detail: "Expected \(header) of 1 to \(longest) bytes; nothing was stored."
        )
    }

    static let idempotencyKeyReused = Problem(
        status: .unprocessableContent,
        type: "idempotency-key-reused",
        title: "Idempotency-Key reused",
        detail: "This Idempotency-Key was used with another body; nothing was stored. Use a new key for new events."
    )

    static let unsupportedEncoding = Problem(
        status: .unsupportedMediaType,
        type: "unsupported-encoding",
        title: "Unsupported Content-Encoding",
        detail: "Expected Content-Encoding gzip or none."
    )

    /// - Parameter isMissing: whether there was none; another one is not repeated, since anything may stand in it.
    static func unsupportedType(isMissing: Bool) -> Problem {
        Problem(
            status: .unsupportedMediaType,
            type: "unsupported-type",
            title: "Unsupported Content-Type",
            detail: "Expected application/json, application/x-ndjson or text/plain, found "
                + (isMissing ? "none." : "another one.")
        )
    }

    static func nothingReadable(_ decoded: DecodedEvents) -> Problem {
        let first = decoded.rejections.first.map { "\($0)" } ?? ""
        return Problem(
            status: .badRequest,
            type: "nothing-readable",
            title: "Nothing readable",
            detail: decoded.rejected == 1
                ? "The event was rejected: \(first)"
                : "All \(decoded.rejected) events were rejected; the first: \(first)",
            members: "," + String(decoding: IngestAnswer.rejections(decoded), as: UTF8.self)
        )
    }

    static func overloaded(retryAfter: Duration) -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "overloaded",
            title: "Overloaded",
            detail: "More events are waiting to be stored than allowed; nothing of this request was stored. Try again.",
            retryAfter: RetryHint.jittered(retryAfter)
        )
    }

    private static func ledgerSlow(retryAfter: Duration) -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "ledger-slow",
            title: "The disk is too slow",
            detail: "Storing events takes longer than allowed (see --max-commit-time); nothing of this request was "
                + "stored. Try again.",
            retryAfter: RetryHint.jittered(retryAfter)
        )
    }

    static func stopping() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "stopping",
            title: "The service is stopping",
            detail: "Nothing of this request was stored. Try again.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }

    init(_ error: GzipError) {
        switch error {
        case .tooLarge:
            self = .bodyTooLarge
            detail =
                "The decompressed body is larger than the limit (see --max-decompressed-body); send the events in several "
                + "requests."
        case .suspiciousRatio:
            self.init(
                status: .contentTooLarge,
                type: "compression-ratio",
                title: "Compression ratio too high",
                detail: "The body decompresses to so many times its size that it is refused."
            )
        case .damaged, .truncated:
            self.init(
                status: .badRequest,
                type: "broken-gzip",
                title: "Broken gzip",
                detail: error == .truncated
                    ? "The gzip body ends before its content does; nothing was stored."
                    : "The body is declared as gzip and is not gzip, or its checksum is wrong; nothing was stored."
            )
        case .outOfMemory:
            self = .overloaded(retryAfter: .seconds(5))
        }
    }

    init(_ error: SubmissionError) {
        switch error {
        case .overloaded(let after):
            self = .overloaded(retryAfter: after)
        case .slow(let after):
            self = .ledgerSlow(retryAfter: after)
        case .stopped:
            self = .stopping()
        case .failed(.full):
            self.init(
                status: .serviceUnavailable,
                type: "ledger-full",
                title: "No space left",
                detail: "There is no space left for the ledger; nothing of this request was stored. Try again later.",
                retryAfter: RetryHint.jittered(.seconds(10))
            )
        case .failed:
            self.init(
                status: .serviceUnavailable,
                type: "ledger-failed",
                title: "The ledger failed",
                detail: "The events could not be stored; nothing of this request was. Try again later.",
                retryAfter: RetryHint.jittered(.seconds(10))
            )
        }
    }
}
