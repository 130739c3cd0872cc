// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents

/// Compares the decoder's judgement of an input's syntax with that of Foundation's parser.
///
/// Left out is what they may see differently: texts that Foundation takes for UTF-16 or UTF-32, numbers beyond a
/// `Double`, and what the decoder's own limits refuse (SPEC 3.1: depth, size, half surrogate pairs).
struct SyntaxComparison {
    private let input: [UInt8]
    private let isJSON: Bool
    private let decoded: DecodedEvents

    init?(_ input: [UInt8]) {
        guard input.count <= JSONLimits.eventBytes, !input.contains(0), input.first != 0xFE, input.first != 0xFF else {
            return nil
        }
        self.input = input
        isJSON = (try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)) != nil
        decoded = decode(input, .document)
    }

    func check() {
        if isJSON {
            checkNoSyntaxError()
        } else if isSingleObject, decoded.rejected == 0, !hasLargeNumber {
            finding("a single object that Foundation refuses and the decoder does not", input)
        }
    }

    private func checkNoSyntaxError() {
        let limits: Set<RejectionReason> = [.tooDeep, .tooLong, .invalidUTF8]
        guard !decoded.rejections.contains(where: { limits.contains($0.reason) }) else { return }
        for rejection in decoded.rejections where [.malformedJSON, .truncated].contains(rejection.reason) {
            finding("JSON to Foundation, to the decoder \(rejection)", input)
        }
    }

    /// Whether the input is one object, or the beginning of one: its brackets close at its end or not at all.
    private var isSingleObject: Bool {
        let text = input.starts(with: [0xEF, 0xBB, 0xBF]) ? input[3...] : input[...]
        var depth = 0
        var isInString = false
        var isEscaped = false
        var isClosed = false
        for byte in text.drop(while: Self.isSpace) {
            if isClosed { guard Self.isSpace(byte) else { return false } }
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            if depth == 0, !isClosed { isClosed = byte == UInt8(ascii: "}") }
            if depth == 0, !isClosed { return false }
        }
        return depth > 0 || isClosed
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }

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
