// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
public import TelemetryEvents

/// The key under which installations get their pseudonyms (SPEC 4.7): 32 random bytes in a file of mode 0600, made on
/// the first start and never changed.
public struct InstallationKey: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "installation.key"
    private let key: SymmetricKey

    /// Loads the key, or makes one where there is none.
    ///
    /// - Parameter mayCreate: whether there is nothing yet that was made under another key.
    public init(directory: String, mayCreate: Bool = true) throws(InstallationKeyError) {
        let file = KeyFile(path: directory + "/" + Self.fileName)
        if let bytes = try file.load() {
            key = SymmetricKey(data: bytes)
        } else {
            guard mayCreate else {
                throw InstallationKeyError(
                    path: file.path,
                    problem: "it is missing beside a ledger that was written under it"
                )
            }
            let fresh = SymmetricKey(size: .bits256)
            try file.create(unsafe fresh.withUnsafeBytes { unsafe Array($0) })
            key = fresh
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
        var authentication = HMAC<SHA256>(key: key)
        unsafe bytes.withUnsafeBufferPointer { unsafe authentication.update(data: $0) }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in authentication.finalize().prefix(16).enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        return Pseudonym(high: high, low: low)
    }
}
