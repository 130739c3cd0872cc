// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hashing
public import TelemetryEvents

/// The key under which installations get their pseudonyms (SPEC 4.7): 32 random bytes in a file of mode 0600, made on
/// the first start and never changed.
public struct InstallationKey: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "installation.key"
    private let hash: KeyedHash256

    /// Loads the key, or makes one where there is none.
    ///
    /// - Parameter mayCreate: whether there is nothing yet that was made under another key.
    public init(directory: String, mayCreate: Bool = true) throws(InstallationKeyError) {
        let file = KeyFile(path: directory + "/" + Self.fileName)
        if let bytes = try file.load() {
            hash = KeyedHash256(key: bytes)
        } else {
            guard mayCreate else {
                throw InstallationKeyError(
                    path: file.path,
                    problem: "it is missing beside a ledger that was written under it"
                )
            }
            let key = KeyedHash256.randomKey()
            try file.create(key)
            hash = KeyedHash256(key: key)
        }
    }

    /// The key of the hashes that identify events, derived from this one so that there is one secret to keep.
    public var identityKey: IdentityKey {
        let derived = pseudonym(of: Array("dnp-telemetry event identity".utf8).span)
        return IdentityKey(derived.high, derived.low)
    }
}

extension InstallationKey: Pseudonymising {
    /// The first 128 bits of HMAC-SHA-256 (RFC 2104) over the bytes.
    public func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        let code = hash.code(of: bytes)
        return Pseudonym(high: code.first, low: code.second)
    }
}
