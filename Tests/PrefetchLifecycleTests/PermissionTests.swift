// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("Permission to notify")
struct PermissionTests {
    @Test(
        "a denial is about the installation, whichever schedule it names, and of one moment with a scheduling comes behind it"
    )
    func denialIsOfTheInstallation() throws {
        let denied = TestEvent(.notificationDenied, 10, id: "a")
        func isBroken(_ events: TestEvent...) throws -> Bool {
            try Reading.result(events).broken.contains(.scheduledWhileDenied)
        }
        #expect(try isBroken(denied, Reading.scheduled(20, "b", due: 900)))
        #expect(try isBroken(denied, Reading.scheduled(20, "a", due: 900)))
        #expect(try !isBroken(denied, Reading.scheduled(10, "b", due: 900)))
        let granted = TestEvent(.permissionGranted, 20, id: nil)
        #expect(try !isBroken(denied, granted, Reading.scheduled(20, "b", due: 900)))
    }

    @Test("a denial of the installation accuses every scheduling after it until a grant, in every order")
    func denialHoldsUntilAGrant() throws {
        let denied = TestEvent(.notificationDenied, 0, id: nil)
        let granted = TestEvent(.permissionGranted, 5_000, id: nil)
        let late = Reading.scheduled(4_999, "a", due: 9_000)
        #expect(try Reading.result([denied, late]).broken.contains(.scheduledWhileDenied))
        #expect(try Reading.result([denied, late, granted]).broken.contains(.scheduledWhileDenied))
        let after = Reading.scheduled(5_000, "b", due: 9_000)
        #expect(try !Reading.result([denied, granted, after]).broken.contains(.scheduledWhileDenied))
        let again = TestEvent(.notificationDenied, 6_000, id: nil)
        #expect(
            try Reading.result([denied, granted, again, Reading.scheduled(7_000, "c", due: 9_000)]).broken
                .contains(.scheduledWhileDenied)
        )
    }

    @Test("a grant ends a denial for the same schedule, and many tellings are remembered in bounded memory")
    func grantEndsADenialOfItsSchedule() throws {
        let denied = TestEvent(.notificationDenied, 0)
        let granted = TestEvent(.permissionGranted, 20, id: nil)
        #expect(try Reading.result([denied, Reading.scheduled(10, "a"), granted]).broken == [.scheduledWhileDenied])
        #expect(try Reading.result([denied, Reading.scheduled(30, "a"), granted]).broken == [])

        var permissions = ToldPermissions()
        permissions.record(isGranted: true, at: .after(0))
        for second in 1...500 { permissions.record(isGranted: false, at: .after(Double(second))) }
        permissions.record(isGranted: true, at: .after(600))
        #expect(permissions.words.count <= 16)
        #expect(permissions.denial(before: .after(1)) == nil)
        #expect(permissions.denial(before: .after(2)) == .after(1))
        #expect(permissions.denial(before: .after(600)) == nil)
        #expect(permissions.denial(before: .after(599)) != nil)
    }
}
