// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import TelemetryEvents

/// What a ledger keeps of the key that it is written under, so that a start with another key is noticed.
///
/// It is the keyed hash of a constant: it tells two keys apart and nothing of either.
package struct KeyFingerprint: Equatable, Sendable {
    /// The name under which the ledger keeps it. It is no projection of the ledger: its position stays at the start.
    package static let projection = "installation-key"
    private static let page: StateKey = "fingerprint"

    private let bytes: [UInt8]

    /// The fingerprint of a key.
    package init(of key: InstallationKey) {
        var digits: [UInt8] = []
        key.pseudonym(of: Array("dnp-telemetry installation key fingerprint".utf8).span).appendHex(to: &digits)
        bytes = digits
    }

    /// The fingerprint that a ledger keeps; nil in one of a version that kept none.
    package init?(in reader: LedgerReader) throws(LedgerError) {
        var kept: [UInt8]?
        _ = try reader.loadState(Self.projection) { key, value in
            if key == Self.page { kept = value }
        }
        guard let kept else { return nil }
        bytes = kept
    }

    /// Makes it the ledger's.
    package func save(to ledger: EventLedger, now: Int64) throws(LedgerError) {
        var changes = StateChanges()
        changes.put(Self.page, bytes)
        try ledger.checkpoint(projection: Self.projection, at: .start, changes: changes, now: now)
    }

    /// The hash as hexadecimal digits.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension InstallationKey {
    /// Checks that a ledger was not written under another key.
    ///
    /// - Returns: whether the ledger keeps this key's fingerprint; false where it keeps none, or a damaged one.
    package func isKey(of reader: LedgerReader, in directory: String) throws -> Bool {
        let kept: KeyFingerprint?
        do throws(LedgerError) {
            kept = try KeyFingerprint(in: reader)
        } catch .damagedState {
            return false
        }
        guard let kept else { return false }
        let own = KeyFingerprint(of: self)
        guard kept == own else {
            throw InstallationKeyError.other(directory, expected: kept, found: own)
        }
        return true
    }
}

extension InstallationKeyError {
    fileprivate static func other(
        _ directory: String,
        expected: KeyFingerprint,
        found: KeyFingerprint
    ) -> InstallationKeyError {
        InstallationKeyError(
            path: directory + "/" + InstallationKey.fileName,
            problem:
                "it is another key (fingerprint \(found.text.prefix(16))) than the one that the ledger beside it was written "
                + "under (\(expected.text.prefix(16)))"
        )
    }
}
