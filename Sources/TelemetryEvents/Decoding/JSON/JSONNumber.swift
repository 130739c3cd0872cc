// SPDX-License-Identifier: Apache-2.0

/// A JSON number as it stands: digits and a power of ten, so that whole numbers and decimals are read exactly.
struct JSONNumber {
    /// Exponents beyond this are as good as infinite: no field holds more than 19 digits.
    static let largestExponent = 10_000
    /// So many digits always fit.
    static let exactDigits = 18

    var isNegative = false
    var mantissa: UInt64 = 0
    var exponent = 0
    private var droppedDigit = false

    mutating func append(digit: UInt8, afterPoint: Bool) {
        let value = UInt64(digit - 0x30)
        if mantissa < UInt64.max / 10 - 1 {
            mantissa = mantissa * 10 + value
            if afterPoint { exponent -= 1 }
        } else {
            if value != 0 { droppedDigit = true }
            if !afterPoint, exponent < Self.largestExponent { exponent += 1 }
        }
    }

    /// The value times ten to `power`, rounded towards zero; nil when that is not in the range.
    ///
    /// - Parameter exact: nil too when rounding would change it.
    func scaled(byPowerOfTen power: Int, in range: ClosedRange<Int64>, exact: Bool = false) -> Int64? {
        var value = mantissa
        var shift = exponent + power
        if exact, droppedDigit { return nil }
        while shift > 0, value != 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = product
            shift -= 1
        }
        while shift < 0, value != 0 {
            if exact, value % 10 != 0 { return nil }
            value /= 10
            shift += 1
        }
        guard value <= UInt64(Int64.max) else { return nil }
        let signed = isNegative ? -Int64(value) : Int64(value)
        if isNegative, mantissa != 0, range.lowerBound == 0 { return nil }
        return range.contains(signed) ? signed : nil
    }
}
