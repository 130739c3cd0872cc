// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Testing

@testable import Collector

@Suite("Who is let in")
struct ConnectionAdmissionTests {
    private let one = ConnectionClient.address(ClientAddress(version4: 1))
    private let other = ConnectionClient.address(ClientAddress(version4: 2))

    @Test("everyone is admitted up to the limit; then all but scrapes wait until one has gone")
    func connectionAdmissionAll() {
        let limits = ConnectionAdmission.Limits(all: 3, ofClient: .all)
        var admission = ConnectionAdmission()
        for _ in 0..<3 { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        #expect(admission.enter(other, isReserved: false, limits) == .wait)
        for _ in 0..<ConnectionAdmission.reserve {
            #expect(admission.enter(other, isReserved: true, limits) == .admit)
        }
        #expect(admission.enter(other, isReserved: true, limits) == .wait)
        #expect(admission.open == 3 + ConnectionAdmission.reserve)
        for _ in 0..<ConnectionAdmission.reserve { admission.leave(other) }
        #expect(admission.enter(other, isReserved: false, limits) == .wait)
        admission.leave(one)
        #expect(admission.enter(other, isReserved: false, limits) == .admit)
    }

    @Test("one client is admitted up to its own limit, and one without an address up to that of all")
    func connectionAdmissionOfClient() {
        let limits = ConnectionAdmission.Limits(all: 10, ofClient: .count(2))
        var admission = ConnectionAdmission()
        for _ in 0..<2 { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        #expect(admission.enter(one, isReserved: true, limits) == .tooManyOfClient(by: 1))
        #expect(admission.enter(other, isReserved: false, limits) == .admit)
        for _ in 0..<7 { #expect(admission.enter(nil, isReserved: false, limits) == .admit) }
        #expect(admission.enter(nil, isReserved: false, limits) == .wait)
        admission.leave(one)
        #expect(admission.enter(one, isReserved: false, limits) == .admit)
        #expect(admission.clients == 2)
        for _ in 0..<2 { admission.leave(one) }
        admission.leave(other)
        #expect(admission.clients == 0, "nothing is kept of those who have gone")
    }

    @Test("one is admitted in place of another, which counts until it has gone")
    func inPlace() {
        let limits = ConnectionAdmission.Limits(all: 2, ofClient: .count(2))
        var admission = ConnectionAdmission()
        for _ in 0..<2 { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        admission.admit(one)
        #expect(admission.open == 3)
        #expect(admission.enter(one, isReserved: false, limits) == .tooManyOfClient(by: 2))
        #expect(admission.enter(other, isReserved: false, limits) == .wait)
        admission.leave(one)
        #expect(admission.enter(one, isReserved: false, limits) == .tooManyOfClient(by: 1))
        admission.leave(one)
        #expect(admission.enter(one, isReserved: false, limits) == .admit)
    }

    @Test("one client is admitted up to half of all, unless it is on this machine", arguments: [1, 2, 7, 1_024])
    func connectionAdmissionHalf(all: Int) {
        let limits = ConnectionAdmission.Limits(all: all, ofClient: .half)
        let half = max(1, all / 2)
        var admission = ConnectionAdmission()
        for _ in 0..<half { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        #expect(admission.enter(one, isReserved: false, limits) == .tooManyOfClient(by: 1))
        #expect(admission.enter(one, isReserved: true, limits) == .tooManyOfClient(by: 1))
        for local in [ConnectionClient.loopback, .user(0)] {
            var admission = ConnectionAdmission()
            for _ in 0..<all { #expect(admission.enter(local, isReserved: false, limits) == .admit) }
            #expect(admission.enter(local, isReserved: false, limits) == .wait)
        }
    }

    @Test("a connection beyond the limit has a place in the lobby, from which it is queued and promoted")
    func connectionAdmissionLobby() {
        let limits = ConnectionAdmission.Limits(all: 100, ofClient: .all)
        var admission = ConnectionAdmission()
        for _ in 0..<100 { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        for _ in 0..<ConnectionAdmission.lobby { #expect(admission.enterLobby(other) == true) }
        #expect(!admission.enterLobby(other) && admission.all == 100 + ConnectionAdmission.lobby)
        #expect(admission.promote(from: .lobby, limits) == false)

        for _ in 0..<25 {
            #expect(admission.enterQueue(limits) == true)
            #expect(admission.enterLobby(other) == true, "its place in the lobby is free")
        }
        #expect(admission.enterQueue(limits) == false, "the queue is a quarter of the limit")
        #expect(admission.queued == 25)
        admission.leave(one)
        #expect(admission.promote(from: .queue, limits) && !admission.promote(from: .queue, limits))
        #expect(admission.open == 100 && admission.queued == 24)

        for _ in 0..<24 { admission.leave(other, from: .queue) }
        for _ in 0..<ConnectionAdmission.lobby { admission.leave(other, from: .lobby) }
        for _ in 0..<99 { admission.leave(one) }
        admission.leave(other)
        #expect(admission.all == 0 && admission.clients == 0)
    }

    @Test(
        "a client on this machine is limited to half of all places without progress, and those with progress are free"
    )
    func connectionAdmissionStalled() {
        let limits = ConnectionAdmission.Limits(all: 10, ofClient: .half)
        for local in [ConnectionClient.loopback, .user(1_000)] {
            var admission = ConnectionAdmission()
            for _ in 0..<5 { #expect(admission.enter(local, isReserved: false, limits) == .admit) }
            #expect(admission.stalledLimit(of: local, limits) == nil, "it has no more than its share")
            #expect(admission.enter(local, isReserved: false, limits) == .admit)
            #expect(admission.stalledLimit(of: local, limits) == 5)
            #expect(admission.majority(limits) == local)
            #expect(admission.stalledLimit(of: other, limits) == nil && admission.stalledLimit(of: nil, limits) == nil)
            let unlimited = ConnectionAdmission.Limits(all: 10, ofClient: .all)
            #expect(admission.stalledLimit(of: local, unlimited) == nil)
        }
    }

    @Test(
        "all addresses of the loopback are one client of the connection limits, and each user of a Unix socket is one"
    )
    func connectionClients() throws {
        let client = { (text: String) in try ConnectionClient(SocketAddress(ipAddress: text, port: 1)) }
        #expect(try client("127.0.0.1") == client("127.255.3.4"))
        #expect(try client("127.0.0.1") == client("::1"))
        #expect(try client("192.0.2.1") != client("192.0.2.2"))
        #expect(try client("192.0.2.1")?.isLocal == false && client("127.0.0.9")?.isLocal == true)
        #expect(try ConnectionClient(SocketAddress(unixDomainSocketPath: "/run/x")) == nil)

        var pair: [Int32] = [0, 0]
        let status = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        try #require(status == 0)
        defer { for descriptor in pair { close(descriptor) } }
        #expect(ConnectionClient(peerOf: pair[0]) == .user(getuid()))
        #expect(ConnectionClient(peerOf: -1) == nil)
    }
}
