// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

/// 2025-11-15 in microseconds.
package let startOfTest = ManualClock.start

/// Events as clients write them.
package enum EventText {
    /// An event some seconds after the start of the test.
    package static func event(_ kind: String, id: String, second: Int64 = 0, _ members: String = "") -> String {
        let time = Timestamp(microseconds: startOfTest + second * 1_000_000)
        return
            #"{"event":"\#(kind)","scheduleId":"\#(id)","timestamp":"\#(time)"\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    package static func scheduled(_ id: String) -> String { event("prefetch_scheduled", id: id) }

    /// What the decoder makes of some lines.
    package static func decode(_ lines: [String], at now: Int64 = startOfTest) -> DecodedEvents {
        JSONEventDecoder.decode(
            Array(lines.joined(separator: "\n").utf8).span,
            framing: .lines,
            receivedAt: Timestamp(microseconds: now),
            pseudonyms: FixedPseudonym(),
            identityKey: identityKey
        )
    }

    package static let identityKey = IdentityKey(3, 4)
}

/// The same pseudonym for everyone; the keyed hash has tests of its own.
package struct FixedPseudonym: Pseudonymising {
    package init() {}

    package func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: 1, low: 2) }
}
