// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Feeds an input to the decoder of JSON events, as a document and as lines.
enum EventDecoderTarget: FuzzTarget {
    static func check(_ input: [UInt8]) {
        for framing in [JSONEventDecoder.Framing.document, .lines] {
            let decoded = decode(input, framing)
            DecodedInvariants.check(decoded)
            for event in CanonicalEvent.all(in: decoded) { event.checkRoundTrip() }
        }
        SyntaxComparison(input)?.check()
    }
}
