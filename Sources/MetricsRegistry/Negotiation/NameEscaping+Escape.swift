// SPDX-License-Identifier: Apache-2.0

extension NameEscaping {
    /// The name as a page of this escaping shows it, without quotes; a classic name as it is.
    ///
    /// These are the schemes of prometheus.io/docs/instrumenting/escaping_schemes, as the Go library applies them to
    /// families and labels.
    func escape(_ name: String) -> String {
        if self == .allowUTF8 || name.isEmpty || MetricName.isClassic(name) { return name }
        var escaped = self == .values ? "U__" : ""
        var first = true
        for scalar in name.unicodeScalars {
            let isClassic = scalar.isASCII && MetricName.isClassicByte(UInt8(scalar.value), first: first)
            switch (self, scalar) {
            case (.dots, "_"), (.values, "_"): escaped += "__"
            case (.dots, "."): escaped += "_dot_"
            case _ where isClassic: escaped.unicodeScalars.append(scalar)
            case (.values, _): escaped += "_\(String(scalar.value, radix: 16))_"
            case (.dots, _): escaped += "__"
            default: escaped += "_"
            }
            first = false
        }
        return escaped
    }
}
