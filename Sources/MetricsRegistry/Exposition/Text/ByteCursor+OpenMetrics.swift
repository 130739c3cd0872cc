// SPDX-License-Identifier: Apache-2.0

extension ByteCursor {
    /// Writes microseconds since 1970 as seconds, with the decimals that they have.
    mutating func write(seconds microseconds: Int64) {
        if microseconds < 0 { write(UInt8(ascii: "-")) }
        let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        write(decimal: whole)
        if fraction == 0 { return }
        write(UInt8(ascii: "."))
        write(millionths: fraction)
    }

    /// Writes ` # {labels} value timestamp` in at most `exemplar.room` bytes. A zero byte, legal here as in label values, is
    /// replaced: Prometheus (2.42) refuses a page with one in an exemplar.
    mutating func write(_ exemplar: Exemplar) {
        write(" # {")
        var isFirst = true
        for label in exemplar.labels {
            if !isFirst { write(UInt8(ascii: ",")) }
            isFirst = false
            write(label.name)
            write("=\"")
            write(escaping: label.value)
            write(UInt8(ascii: "\""))
        }
        write("} ")
        write(double: exemplar.value)
        write(UInt8(ascii: " "))
        write(seconds: exemplar.timestamp)
    }

    private mutating func write(escaping text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): write(#"\\"#)
            case UInt8(ascii: "\n"): write(#"\n"#)
            case UInt8(ascii: "\""): write(#"\""#)
            case 0: write("\u{FFFD}")
            default: write(byte)
            }
        }
    }
}

extension Exemplar {
    /// Bytes that `ByteCursor.write(_:)` takes at most.
    var room: Int {
        labels.reduce(2 * ByteCursor.numberRoom + 8) { $0 + $1.name.utf8.count + 3 * $1.value.utf8.count + 4 }
    }
}
