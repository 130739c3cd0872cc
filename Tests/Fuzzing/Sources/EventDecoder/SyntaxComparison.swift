// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents

/// Compares the decoder's judgement of an input's syntax, and its count of events, with Foundation's.
///
/// Left out is what they may see differently: texts that Foundation takes for UTF-16 or UTF-32, numbers beyond a
/// `Double`, names that occur twice, and what the decoder's own limits refuse (depth, size, unpaired
/// surrogates).
struct SyntaxComparison {
    private let input: [UInt8]
    private let values: TopLevelValues

    init?(_ input: [UInt8]) {
        guard input.count <= JSONLimits.eventBytes, !input.contains(0), !input.contains(0xFE), !input.contains(0xFF)
        else { return nil }
        self.input = input
        values = TopLevelValues(input)
    }

    func check() {
        let document = decode(input, .document)
        let lines = decode(input, .lines)
        guard values.areJSON else {
            guard document.rejected > 0 && lines.rejected > 0 || hasLargeNumber else {
                finding("Foundation refuses a part, the decoder nothing", input)
            }
            return
        }
        guard values.count == 1 || values.areContainers else { return }
        if values.count == 1 || values.standOnLines { check(document, "document") }
        if values.standOnLines { check(lines, "lines") }
    }

    private func check(_ decoded: DecodedEvents, _ framing: String) {
        let limits: Set<RejectionReason> = [.tooDeep, .tooLong, .invalidUTF8]
        guard !decoded.rejections.contains(where: { limits.contains($0.reason) }) else { return }
        for rejection in decoded.rejections where [.malformedJSON, .truncated].contains(rejection.reason) {
            finding("\(framing): JSON to Foundation, to the decoder \(rejection)", input)
        }
        guard decoded.received != values.events, !namesEventsTwice else { return }
        finding("\(framing): \(values.events) events to Foundation, \(decoded.received) to the decoder", input)
    }

    private var namesEventsTwice: Bool {
        let tail = Array("vents\"".utf8)
        var count = 0
        for start in input.indices where input[start...].starts(with: tail) { count += 1 }
        return count > 1
    }

    /// Whether a number may be there that is too large for a `Double`: an exponent of three digits, or 300 digits.
    private var hasLargeNumber: Bool {
        var digits = 0
        var isExponent = false
        for byte in input {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if digits >= (isExponent ? 3 : 300) { return true }
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                isExponent = true
                digits = 0
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                digits = 0
            default:
                isExponent = false
                digits = 0
            }
        }
        return false
    }
}
