// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPExchange

/// A receiver's answer to a request.
package struct ExportAnswer: Sendable, Equatable {
    /// The most bytes of an answer that are read; a longer one breaks the connection.
    package static let maximumBytes = 4 << 20

    package var status: Int
    /// With names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A longer pause that a receiver asks for is shortened to this.
    private static let longestPause = Duration.seconds(600)

    /// How long the receiver wants to be left alone.
    fileprivate func pause(now: Int64) -> Duration? {
        RetryAfter.duration(headers["retry-after"], now: Double(now), longest: Self.longestPause)
    }

    private var mediaType: String {
        let type = headers["content-type"] ?? ""
        return String(type.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// The first line of what a receiver says, as much of it as a log line holds.
    fileprivate static func shown(_ text: String) -> String {
        String((text.split(whereSeparator: \.isNewline).first ?? "").prefix(300))
    }

    /// The status with the first line of a text that explains it.
    fileprivate var words: String {
        guard mediaType == "text/plain" || mediaType == "application/json" || mediaType.isEmpty,
            let text = String(validating: body.prefix(300), as: UTF8.self)
        else { return "HTTP \(status)" }
        let line = Self.shown(text)
        return line.isEmpty ? "HTTP \(status)" : "HTTP \(status), \(line)"
    }
}

/// What an answer means for what was sent.
package enum ExportOutcome: Sendable, Equatable {
    /// The receiver has it, but for so many records or points that it refused, and says why.
    case taken(refused: UInt64, note: String)
    /// The same may be sent again, no sooner than the receiver asks for.
    case again(String, after: Duration?)
    /// Sending it again would change nothing.
    case refused(String)
    /// Less of it at once may be taken.
    case tooLarge(String)
    /// The receiver speaks only an older version of the protocol.
    case otherVersion(String)
}

extension ExportOutcome {
    /// The outcome in OTLP (OpenTelemetry Protocol 1, "OTLP/HTTP Response").
    ///
    /// Only 429, 502, 503 and 504 are retried. An answer of success is final, whatever its body: what it says that it did
    /// not take is counted and not sent again.
    ///
    /// - Parameter now: seconds since 1970, for a `Retry-After` that is a date.
    package static func otlp(_ answer: ExportAnswer, now: Int64) -> ExportOutcome {
        switch answer.status {
        case 200...299:
            let partial = PartialSuccess(answer)
            return .taken(refused: partial.rejected, note: ExportAnswer.shown(partial.message))
        case 429, 502, 503, 504: return .again(answer.words, after: answer.pause(now: now))
        default: return final(answer)
        }
    }

    /// The outcome in remote write ("Retries & Backoff", "Required Written Response Headers").
    ///
    /// - Parameters:
    ///   - samples: how many samples and histograms were sent.
    ///   - now: seconds since 1970, for a `Retry-After` that is a date.
    package static func remoteWrite(
        _ answer: ExportAnswer,
        _ version: RemoteWrite.Version,
        samples: Int,
        now: Int64
    ) -> ExportOutcome {
        let written = answer.written
        switch answer.status {
        case 200...299:
            guard version == .v2 else { return .taken(refused: 0, note: "") }
            guard let written else {
                return .otherVersion("its answer does not say what was written")
            }
            let missing = UInt64(max(samples - written, 0))
            return .taken(refused: missing, note: missing > 0 ? "it says that it wrote \(written) of \(samples)" : "")
        case 415 where version == .v2: return .otherVersion(answer.words)
        case 429, 500...599: return .again(answer.words, after: answer.pause(now: now))
        default: return final(answer)
        }
    }

    private static func final(_ answer: ExportAnswer) -> ExportOutcome {
        switch answer.status {
        case 413: .tooLarge(answer.words)
        case 300...399: .refused("\(answer.words): it points elsewhere, which is not followed")
        default: .refused(answer.words)
        }
    }
}

extension ExportAnswer {
    /// How many samples and histograms a receiver of remote write 2.0 has written; nil where it does not say.
    fileprivate var written: Int? {
        let counts = ["samples", "histograms"].map { headers["x-prometheus-remote-write-\($0)-written"].map(Int.init) }
        guard counts.contains(where: { $0 != nil }) else { return nil }
        // A receiver may tell any number.
        return counts.reduce(0) { $0 + min(max(($1 ?? 0) ?? 0, 0), 1 << 32) }
    }
}

/// What an answer of success says that was not taken.
private struct PartialSuccess {
    private struct Answer: Decodable {
        struct Partial: Decodable {
            var rejectedLogRecords: Count?
            var rejectedDataPoints: Count?
            var errorMessage: String?
        }
        var partialSuccess: Partial?
    }

    /// A number of 64 bits, as a text or as a number.
    private struct Count: Decodable {
        let value: UInt64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value =
                if let text = try? container.decode(String.self) {
                    UInt64(text) ?? 0
                } else {
                    UInt64(clamping: try container.decode(Int64.self))
                }
        }
    }

    private(set) var rejected: UInt64 = 0
    private(set) var message = ""

    init(_ answer: ExportAnswer) {
        if answer.isJSON {
            let partial = (try? JSONDecoder().decode(Answer.self, from: Data(answer.body)))?.partialSuccess
            rejected = (partial?.rejectedLogRecords ?? partial?.rejectedDataPoints)?.value ?? 0
            message = partial?.errorMessage ?? ""
        } else {
            do throws(ProtobufReader.Failure) {
                try read(answer.body)
            } catch {
                (rejected, message) = (0, "")
            }
        }
    }

    private mutating func read(_ body: [UInt8]) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(body[...])
        while let (number, value) = try reader.next() {
            guard number == 1 else { continue }
            var partial = ProtobufReader(value.message)
            while let (number, value) = try partial.next() {
                switch number {
                case 1: rejected = UInt64(clamping: Int64(bitPattern: value.number))
                case 2: message = try value.text()
                default: break
                }
            }
        }
    }
}

extension ExportAnswer {
    fileprivate var isJSON: Bool { mediaType == "application/json" }
}
