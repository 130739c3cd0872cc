// SPDX-License-Identifier: Apache-2.0

/// The rules for the path of the metrics.
package enum MetricsPath {
    /// Where the metrics are unless told.
    package static let `default` = "/metrics"

    /// What is wrong with a path; nil when nothing is.
    package static func complaint(about path: String) -> String? {
        guard path.utf8.count <= 256 else { return "a path of at most 256 bytes" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count > 1, segments[0].isEmpty, segments.dropFirst().allSatisfy(isName) else {
            return "a path such as /metrics, of letters, digits, \"-\", \".\", \"_\" and \"~\" between slashes"
        }
        guard !["v1", "api", "-"].contains(segments[1]) else {
            return "a path that does not begin with /v1, /api or /-, which have other uses"
        }
        return nil
    }

    private static func isName(_ segment: Substring) -> Bool {
        !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(isUnreserved)
    }

    /// RFC 3986, 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
