// SPDX-License-Identifier: Apache-2.0

internal import Hashing

/// The passwords that were found right, as hashes under a key of this process, so that each costs one check.
///
/// A hash covers the user's hash too: once that is changed, the password has to be checked again.
struct VerifiedPasswords {
    /// How many are kept; then it begins anew.
    static let capacity = 1_024

    /// What stands for a user, the hash of the password in the configuration and the password shown.
    struct Entry: Hashable {
        fileprivate let code: SHA256Digest
    }

    private let key = KeyedHash256(key: KeyedHash256.randomKey())
    private var entries: Set<Entry> = []

    var count: Int { entries.count }

    func entry(user: [UInt8], _ hash: BcryptHash, password: [UInt8]) -> Entry {
        var message: [UInt8] = []
        for part in [user, hash.text, password] {
            message += unsafe withUnsafeBytes(of: UInt64(part.count)) { unsafe Array($0) }
            message += part
        }
        return Entry(code: key.code(of: message))
    }

    func contains(_ entry: Entry) -> Bool { entries.contains(entry) }

    mutating func insert(_ entry: Entry) {
        if entries.count >= Self.capacity { entries = [] }
        entries.insert(entry)
    }
}
