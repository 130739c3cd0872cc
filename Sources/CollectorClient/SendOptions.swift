// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
package import LogInput
internal import TextOutput

/// The options of `send`.
package struct SendOptions: Sendable {
    /// The collector's address.
    package var to: CollectorURL
    /// How to read lines that don't declare their form.
    package var reading: LineFormat
    /// Credentials and TLS.
    package var access = CollectorAccess()
    /// `$CREDENTIALS_DIRECTORY`.
    package var credentials: String?
    /// The installation of events that name none; nil: each input is a device of its own.
    package var installation: SendInstallation?
    /// Additional headers of every request.
    package var headers: [SendHeader] = []
    /// Whether bodies are compressed.
    package var compresses = true
    /// How long after its first failure a batch is retried.
    package var retryFor = Duration.seconds(300)
    /// How long one request may take.
    package var timeout = Duration.seconds(30)

    /// Options with the documented defaults.
    package init(to: CollectorURL, reading: LineFormat) {
        self.to = to
        self.reading = reading
    }
}

/// An additional header of every request of `send`.
package struct SendHeader: Hashable, Sendable {
    /// How many there may be.
    static let maximumCount = 16
    /// How long one may be, in bytes.
    static let maximumLength = 1_024
    /// Names that the client sets itself or that carry secrets, which come from files.
    private static let own: Set<String> = [
        "accept", "authorization", "connection", "content-encoding", "content-length", "content-type", "cookie",
        "expect", "host", "idempotency-key", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
        "user-agent", "x-installation-id", "x-source-id",
    ]

    var name: String
    var value: String

    /// Reads headers as `name: value` (RFC 9110, 5).
    package static func all(_ texts: [String]) throws(InvalidOption) -> [SendHeader] {
        guard texts.count <= maximumCount else {
            throw InvalidOption("expected at most \(maximumCount) headers, found \(texts.count)")
        }
        var headers: [SendHeader] = []
        for text in texts { headers.append(try SendHeader(text)) }
        return headers
    }

    init(_ text: String) throws(InvalidOption) {
        guard text.utf8.count <= Self.maximumLength, let colon = text.firstIndex(of: ":") else {
            throw InvalidOption(
                "expected name: value of at most \(Self.maximumLength) bytes, found \(PlainText.line(text))"
            )
        }
        name = text[..<colon].trimmed
        value = text[text.index(after: colon)...].trimmed
        guard let field = HTTPField.Name(name), HTTPField.isValidValue(value) else {
            throw InvalidOption("expected name: value, found \(PlainText.line(text))")
        }
        guard !Self.own.contains(field.canonicalName) else {
            throw InvalidOption("\(name) is set by what is sent, or comes from a file; leave it out")
        }
    }
}
