// SPDX-License-Identifier: Apache-2.0

extension BinaryInteger {
    /// The number with a comma between groups of three digits.
    package var grouped: String {
        var text = ""
        let digits = String(magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}
