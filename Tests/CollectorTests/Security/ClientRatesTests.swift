// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Collector

@Suite("Rates of clients")
struct ClientRatesTests {
    static let second: UInt64 = 1_000_000_000
    let limit = ClientRates.limit(5)

    private func client(_ text: String) throws -> ClientAddress {
        try #require(ClientAddress(SocketAddress(ipAddress: text, port: 1)))
    }

    @Test("each client has a rate of its own, whatever its port")
    func own() throws {
        var rates = ClientRates()
        let (one, two) = (try client("192.0.2.1"), try client("192.0.2.2"))
        for _ in 0..<10 { #expect(rates.take(one, limit, now: 0) == nil) }
        #expect(rates.take(one, limit, now: 0) != nil)
        #expect(rates.take(two, limit, now: 0) == nil)
        #expect(rates.take(one, limit, now: Self.second) == nil)
    }

    @Test("the addresses of one /64 are one client, and an IPv4 address in IPv6 clothes is itself")
    func addresses() throws {
        #expect(try client("2001:db8:1:2::1") == client("2001:db8:1:2:ffff::9"))
        #expect(try client("2001:db8:1:2::1") != client("2001:db8:1:3::1"))
        #expect(try client("::ffff:192.0.2.1") == client("192.0.2.1"))
        #expect(try client("::1") != client("0.0.0.1"))
        #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/run/x")) == nil)
        #expect(ClientAddress(nil) == nil)
    }

    @Test("a client that keeps asking is never forgotten, at whatever pace it asks")
    func steady() throws {
        var rates = ClientRates()
        let one = try client("192.0.2.1")
        var taken = 0
        for step in 0..<6_000 where rates.take(one, limit, now: UInt64(step) * 10_000_000) == nil { taken += 1 }
        #expect((308...310).contains(taken))
        #expect(rates.count <= 2)
    }

    @Test("the memory is bounded however many addresses ask, and given back")
    func bounded() throws {
        var rates = ClientRates()
        for address in 0..<200_000 {
            _ = rates.take(ClientAddress(version4: UInt32(address)), limit, now: UInt64(address))
            #expect(rates.count <= 2 * ClientRates.capacity)
        }
        _ = rates.take(try client("192.0.2.1"), limit, now: 100 * Self.second)
        #expect(rates.count == 1)
    }
}
