// SPDX-License-Identifier: Apache-2.0

/// Which hosts are this machine alone.
package enum LocalHost {
    /// A name or an address of the loopback, in brackets or not.
    package static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased().drop { $0 == "[" }.prefix { $0 != "]" }
        return name == "localhost" || name == "::1" || isLoopbackIPv4(name)
    }

    /// 127.0.0.0/8 (RFC 1122, 3.2.1.3), and no name that begins so.
    private static func isLoopbackIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
