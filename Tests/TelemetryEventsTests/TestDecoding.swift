// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A stand-in whose pseudonyms are easy to foretell; the service's keyed hash is tested where it lives.
struct PlainPseudonyms: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var sum: UInt64 = 0
        for index in 0..<bytes.count { sum = sum &* 31 &+ UInt64(bytes[index]) }
        return Pseudonym(high: sum, low: UInt64(bytes.count))
    }
}

let received = Timestamp(seconds: 1_763_200_000)

func decode(_ text: String, as framing: JSONEventDecoder.Framing = .document) -> DecodedEvents {
    decode(Array(text.utf8), as: framing)
}

func decode(_ bytes: [UInt8], as framing: JSONEventDecoder.Framing = .document) -> DecodedEvents {
    JSONEventDecoder.decode(
        bytes.span,
        framing: framing,
        receivedAt: received,
        pseudonyms: PlainPseudonyms(),
        identityKey: IdentityKey(1, 2)
    )
}

/// The canonical JSON of every event that was read.
func canonical(_ decoded: DecodedEvents) throws -> [String] {
    var lines: [String] = []
    var cursor = EventCursor()
    let bytes = decoded.events.bytes
    while let event = try cursor.next(in: bytes.span) {
        var line: [UInt8] = []
        CanonicalJSON.append(event, in: bytes.span, to: &line)
        lines.append(String(decoding: line, as: UTF8.self))
    }
    return lines
}

/// A valid event with one more member.
func event(with member: String) -> String {
    #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z",\#(member)}"#
}
