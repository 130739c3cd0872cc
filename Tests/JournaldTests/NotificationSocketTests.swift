// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Notifications to the service manager")
    struct NotificationSocketTests {
        @Test("notifications arrive on NOTIFY_SOCKET, by path or by abstract name", arguments: [false, true])
        func arrives(isAbstract: Bool) throws {
            let unique = "dnp-notify-\(UUID().uuidString)"
            let name = isAbstract ? "@\(unique)" : FileManager.default.temporaryDirectory.path + "/" + unique
            let manager = try ListeningManager(name)
            let printed = try Probe.started("NOTIFY_SOCKET=\(name)", "", arguments: ["notify"])
            #expect(printed == ["sent", "sent", "sent", "sent"])
            #expect(
                manager.received() == [
                    "READY=1\nSTATUS=it works READY=0 [31m: Grüße",
                    "RELOADING=1\nMONOTONIC_USEC=12345\nWATCHDOG=1",
                    "EXTEND_TIMEOUT_USEC=2500000\nSTOPPING=1\nERRNO=28",
                ]
            )
        }

        @Test("without NOTIFY_SOCKET nothing is notified, and a missing socket is an error")
        func nobody() throws {
            #expect(try Set(Probe.started("NOTIFY_SOCKET=", "", arguments: ["notify"])) == ["nobody listens"])
            let gone = try Probe.started("NOTIFY_SOCKET=/nonexistent/notify", "", arguments: ["notify"])
            #expect(gone.first == "error: \(SystemError(code: ENOENT))")
        }

        @Test(
            "the watchdog timeout is the manager's, and none for another process",
            arguments: [
                ("WATCHDOG_USEC=30000000", "watchdog 30.0 seconds"),
                ("WATCHDOG_USEC=1500000 WATCHDOG_PID=$$", "watchdog 1.5 seconds"),
                ("WATCHDOG_USEC=1500000 WATCHDOG_PID=1", "watchdog off"),
                ("WATCHDOG_USEC=nonsense", "watchdog error: Invalid argument (22)"),
                ("WATCHDOG_USEC=", "watchdog error: Invalid argument (22)"),
                ("", "watchdog off"),
            ]
        )
        func watchdog(environment: String, expected: String) throws {
            #expect(try Probe.started(environment, "", arguments: ["watchdog"]) == [expected])
        }

        @Test("a status is one line, cut after a whole character at the manager's limit")
        func longStatus() {
            let line = ServiceNotification.status(String(repeating: "ü", count: 3_000)).lines
            #expect(line == "STATUS=" + String(repeating: "ü", count: 512))
            #expect(ServiceNotification.status("a\r\n\u{0}b\u{85}").lines == "STATUS=a   b ")
        }

        @Test("a timeout extension has whole, non-negative microseconds")
        func extensions() {
            #expect(ServiceNotification.extendTimeout(.seconds(-5)).lines == "EXTEND_TIMEOUT_USEC=0")
            #expect(ServiceNotification.extendTimeout(.nanoseconds(1_999)).lines == "EXTEND_TIMEOUT_USEC=1")
            let most: UInt64 = .max
            #expect(ServiceNotification.extendTimeout(.seconds(Int64.max)).lines == "EXTEND_TIMEOUT_USEC=\(most)")
        }
    }
}
