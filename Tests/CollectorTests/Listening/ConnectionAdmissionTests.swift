// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("Who is let in")
struct ConnectionAdmissionTests {
    private let one = ClientAddress(version4: 1)
    private let other = ClientAddress(version4: 2)

    @Test("is everyone up to the limit; then they wait until one has gone, but those who only scrape")
    func all() {
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

    @Test("is one client up to its own limit, and who has no address up to that of all")
    func ofClient() {
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

    @Test("is one in the place of another, which counts until it has gone")
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

    @Test("is one client up to half of all, unless it is on this machine", arguments: [1, 2, 7, 1_024])
    func half(all: Int) {
        let limits = ConnectionAdmission.Limits(all: all, ofClient: .half)
        let half = max(1, all / 2)
        var admission = ConnectionAdmission()
        for _ in 0..<half { #expect(admission.enter(one, isReserved: false, limits) == .admit) }
        #expect(admission.enter(one, isReserved: false, limits) == .tooManyOfClient(by: 1))
        #expect(admission.enter(one, isReserved: true, limits) == .tooManyOfClient(by: 1))
        for local in [ClientAddress(version4: 0x7F00_0001), ClientAddress(version6: 0, 1)] {
            var admission = ConnectionAdmission()
            for _ in 0..<all { #expect(admission.enter(local, isReserved: false, limits) == .admit) }
            #expect(admission.enter(local, isReserved: false, limits) == .wait)
        }
    }
}
