// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What a request shows in its header `Authorization`.
enum Authorization: Equatable {
    case missing
    /// Of a form or a scheme that is not understood.
    case malformed
    /// A user and a password (RFC 7617).
    case basic(user: [UInt8], password: [UInt8])
    /// A token (RFC 6750).
    case bearer([UInt8])

    /// The longest header that is looked at, in bytes.
    static let maximumLength = 8_192

    init(_ header: String?) {
        guard let header else {
            self = .missing
            return
        }
        let bytes = Array(header.utf8)
        guard bytes.count <= Self.maximumLength, let space = bytes.firstIndex(of: UInt8(ascii: " ")) else {
            self = .malformed
            return
        }
        let rest = bytes[space...].drop { $0 == UInt8(ascii: " ") }
        switch String(decoding: bytes[..<space], as: UTF8.self).lowercased() {
        case "bearer" where !rest.isEmpty: self = .bearer(Array(rest))
        case "basic": self = Self.basic(Array(rest))
        default: self = .malformed
        }
    }

    private static func basic(_ encoded: [UInt8]) -> Authorization {
        guard let decoded = Data(base64Encoded: Data(encoded)), let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return .malformed }
        return .basic(user: Array(decoded[..<colon]), password: Array(decoded[(colon + 1)...]))
    }
}
