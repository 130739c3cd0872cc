// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Feeds an input to the decoder of JSON events, as a document and as lines.
@_cdecl("LLVMFuzzerTestOneInput")
public func decodeOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe FuzzInput.bytes(start, count)
    for framing in [JSONEventDecoder.Framing.document, .lines] {
        let decoded = decode(input, framing)
        DecodedInvariants.check(decoded)
        for event in CanonicalEvent.all(in: decoded) { event.checkRoundTrip() }
    }
    SyntaxComparison(input)?.check()
    return 0
}
