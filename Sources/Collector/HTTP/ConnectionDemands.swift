// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import TextOutput

/// What the head of a request demands of its connection.
struct ConnectionDemands {
    /// The largest body that is waited for once the request is answered, in bytes.
    private static let smallBody = 64 << 10

    private let fields: HTTPFields

    init(_ head: HTTPRequest) {
        fields = head.headerFields
    }

    /// Whether the request is the connection's last.
    var closesConnection: Bool {
        guard let value = fields[.connection] else { return false }
        return value == "close" || value.lowercased().split(separator: ",").contains { $0.trimmed == "close" }
    }

    /// The declared length of the body, in bytes; nil for none, or one of chunks.
    var declaredBody: Int? { fields[.contentLength].flatMap { Int($0) } }

    /// Whether the declared body is small enough to wait for its rest once the request is answered.
    var hasSmallBody: Bool { declaredBody.map { $0 <= Self.smallBody } ?? false }

    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        guard let value = fields[.expect] else { return false }
        return value.lowercased() == "100-continue"
    }
}
