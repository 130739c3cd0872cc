// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Consumes a whole value of any type; `depth` is how many levels enclose it.
    mutating func skipValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard let first = peek(bytes) else { throw JSONFault(.truncated) }
        switch first {
        case UInt8(ascii: "\""): _ = try string(bytes)
        case UInt8(ascii: "{"): try skipObject(bytes, depth: depth)
        case UInt8(ascii: "["): try skipArray(bytes, depth: depth)
        case UInt8(ascii: "t"): try literal("true", bytes)
        case UInt8(ascii: "f"): try literal("false", bytes)
        case UInt8(ascii: "n"): try literal("null", bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number(bytes)
        default: throw JSONFault(.malformedJSON)
        }
    }

    private mutating func skipObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard depth < JSONLimits.depth else { throw JSONFault(.tooDeep) }
        position += 1
        if peek(bytes) == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            _ = try string(bytes)
            try expect(UInt8(ascii: ":"), bytes)
            try skipValue(bytes, depth: depth + 1)
            if try endsList(with: UInt8(ascii: "}"), bytes) { return }
        }
    }

    private mutating func skipArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
        guard depth < JSONLimits.depth else { throw JSONFault(.tooDeep) }
        position += 1
        if peek(bytes) == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try skipValue(bytes, depth: depth + 1)
            if try endsList(with: UInt8(ascii: "]"), bytes) { return }
        }
    }

    /// Reads a number.
    @inline(__always)
    mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONNumber {
        var number = JSONNumber()
        var next = peek(bytes)
        if next == UInt8(ascii: "-") {
            number.isNegative = true
            position &+= 1
            next = bytes.byte(at: position)
        }
        let firstDigit = position
        while let digit = next, digit.isDigit, position &- firstDigit < JSONNumber.exactDigits {
            number.mantissa = number.mantissa &* 10 &+ UInt64(digit &- 0x30)
            position &+= 1
            next = bytes.byte(at: position)
        }
        guard position > firstDigit else { throw JSONFault(next != nil ? .malformedJSON : .truncated) }
        if position > firstDigit &+ 1, bytes.byte(at: firstDigit) == UInt8(ascii: "0") {
            throw JSONFault(.malformedJSON)
        }
        if let next, next.isDigit || next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") {
            try restOfNumber(&number, bytes)
        }
        return number
    }

    /// Reads further digits, decimals and an exponent.
    @inline(never)
    private mutating func restOfNumber(_ number: inout JSONNumber, _ bytes: Span<UInt8>) throws(JSONFault) {
        while let digit = bytes.byte(at: position), digit.isDigit {
            number.append(digit: digit, afterPoint: false)
            position += 1
        }
        if bytes.byte(at: position) == UInt8(ascii: ".") {
            position += 1
            let firstDecimal = position
            while let digit = bytes.byte(at: position), digit.isDigit {
                number.append(digit: digit, afterPoint: true)
                position += 1
            }
            guard position > firstDecimal else { throw fault(bytes) }
        }
        if let next = bytes.byte(at: position), next | 0x20 == UInt8(ascii: "e") {
            position += 1
            try exponent(of: &number, bytes)
        }
    }

    private mutating func exponent(of number: inout JSONNumber, _ bytes: Span<UInt8>) throws(JSONFault) {
        let sign = bytes.byte(at: position)
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { position += 1 }
        let firstDigit = position
        var exponent = 0
        while let digit = bytes.byte(at: position), digit.isDigit {
            exponent = min(exponent * 10 + Int(digit - 0x30), JSONNumber.largestExponent)
            position += 1
        }
        guard position > firstDigit else { throw fault(bytes) }
        number.exponent += sign == UInt8(ascii: "-") ? -exponent : exponent
    }

    private func fault(_ bytes: Span<UInt8>) -> JSONFault {
        JSONFault(position < bytes.count ? .malformedJSON : .truncated)
    }
}
