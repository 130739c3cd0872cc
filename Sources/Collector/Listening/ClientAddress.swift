// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The key of per-client limits: an IPv4 address, or the /64 prefix of an IPv6 address.
///
/// A /64 is the least that one subscriber gets (RFC 6177).
struct ClientAddress: Hashable, Sendable {
    private let high: UInt64
    private let isVersion6: Bool

    /// An IPv4 address in host byte order.
    init(version4 address: UInt32) {
        self.init(high: UInt64(address), isVersion6: false)
    }

    /// The two halves of an IPv6 address; an IPv4-mapped one (RFC 4291, 2.5.5.2) becomes its IPv4 address.
    init(version6 high: UInt64, _ low: UInt64) {
        if high == 0, low >> 32 == 0xFFFF {
            self.init(version4: UInt32(truncatingIfNeeded: low))
        } else {
            self.init(high: high, isVersion6: true)
        }
    }

    /// Nil for a Unix socket: its clients are local, and the file mode decides who may connect.
    init?(_ address: SocketAddress?) {
        guard let address else { return nil }
        let bytes = unsafe address.withSockAddr { pointer, size in
            unsafe Array(UnsafeRawBufferPointer(start: pointer, count: size))
        }
        // sin_addr follows family and port (ip(7)), sin6_addr the flow information too (ipv6(7)).
        switch (address, bytes.count) {
        case (.v4, 8...): self.init(version4: UInt32(truncatingIfNeeded: Self.number(bytes[4..<8])))
        case (.v6, 24...): self.init(version6: Self.number(bytes[8..<16]), Self.number(bytes[16..<24]))
        default: return nil
        }
    }

    /// Whether the client is on this machine, as a reverse proxy may be.
    var isLoopback: Bool { isVersion6 ? high == 0 : high >> 24 == 127 }

    private init(high: UInt64, isVersion6: Bool) {
        self.high = high
        self.isVersion6 = isVersion6
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
