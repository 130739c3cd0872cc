// SPDX-License-Identifier: Apache-2.0

extension RawSpan {
    /// Whether the bytes are the given ones.
    func elementsEqual(_ bytes: [UInt8]) -> Bool {
        guard byteCount == bytes.count else { return false }
        return unsafe withUnsafeBytes { unsafe $0.elementsEqual(bytes) }
    }
}

extension UInt64 {
    /// The number that the bytes are the decimal digits of; nil for anything else.
    init?(decimal text: borrowing RawSpan) {
        guard (1...20).contains(text.byteCount) else { return nil }
        var number: UInt64 = 0
        for offset in 0..<text.byteCount {
            let digit = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tens, tensOverflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = tens.addingReportingOverflow(UInt64(digit))
            guard !tensOverflow, !sumOverflow else { return nil }
            number = sum
        }
        self = number
    }
}
