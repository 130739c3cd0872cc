// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Pseudonyms for one run: under a key that is made for it and forgotten with it.
struct OneRunPseudonyms: Pseudonymising {
    /// The key of identities and cycles in the run.
    let identityKey: IdentityKey
    private let high: IdentityKey
    private let low: IdentityKey

    init() {
        var random = SystemRandomNumberGenerator()
        identityKey = IdentityKey(random.next(), random.next())
        high = IdentityKey(random.next(), random.next())
        low = IdentityKey(random.next(), random.next())
    }

    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        Pseudonym(high: high.batch(idempotencyKey: bytes), low: low.batch(idempotencyKey: bytes))
    }
}
