// SPDX-License-Identifier: Apache-2.0

/// The syntax of names (Prometheus data model): metrics `[a-zA-Z_:][a-zA-Z0-9_:]*`, labels without the colon.
enum MetricName {
    static func isValid(_ name: String) -> Bool {
        isIdentifier(name, allowingColon: true)
    }

    static func isValidLabel(_ name: String) -> Bool {
        isIdentifier(name, allowingColon: false)
    }

    /// Label names that start with two underscores belong to Prometheus.
    static func isReservedLabel(_ name: String) -> Bool {
        name.utf8.starts(with: "__".utf8)
    }

    private static func isIdentifier(_ name: String, allowingColon: Bool) -> Bool {
        var first = true
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9") where !first: break
            case UInt8(ascii: ":") where allowingColon: break
            default: return false
            }
            first = false
        }
        return !first
    }
}
