// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// 2025-11-15, the time that the inputs are received at, so that a finding stays one.
let receivedAt = Timestamp(seconds: 1_763_200_000)

func decode(_ input: [UInt8], _ framing: JSONEventDecoder.Framing) -> DecodedEvents {
    JSONEventDecoder.decode(
        input.span,
        framing: framing,
        receivedAt: receivedAt,
        pseudonyms: FoldedPseudonyms(),
        identityKey: IdentityKey(1, 2)
    )
}

/// Pseudonyms without a key.
struct FoldedPseudonyms: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var sum: UInt64 = 0
        for index in 0..<bytes.count { sum = sum &* 31 &+ UInt64(bytes[index]) }
        return Pseudonym(high: sum, low: UInt64(bytes.count))
    }
}
