// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LogValidation

@Suite("Devices of inputs")
struct InputDevicesTests {
    private func devices(_ paths: String..., joins: Bool = false) -> [[String]] {
        InputDevices(paths, joins: joins).inputs.map { $0.map { paths[$0] } }
    }

    @Test("each file is a device of its own, in the order in which the files are named")
    func eachFileIsADevice() {
        #expect(devices("b.log", "a.log", "-") == [["b.log"], ["a.log"], ["-"]])
        #expect(devices("one/app.log", "two/app.log") == [["one/app.log"], ["two/app.log"]])
        #expect(devices("app.log") == [["app.log"]])
        #expect(devices() == [])
    }

    @Test("rotations of one log are one device, read from the oldest on")
    func rotationsAreOneDevice() {
        #expect(
            devices("app.log", "app.log.1", "other.log", "app.log.10.gz", "app.log.2.gz")
                == [["app.log.10.gz", "app.log.2.gz", "app.log.1", "app.log"], ["other.log"]]
        )
        #expect(
            devices("app.log-20251116", "app.log", "app.log-20251115.gz")
                == [["app.log-20251115.gz", "app.log-20251116", "app.log"]]
        )
        #expect(
            devices("app.log.2025-11-14", "app.log.2025-11-15") == [["app.log.2025-11-14", "app.log.2025-11-15"]]
        )
        #expect(devices("syslog.1", "syslog") == [["syslog.1", "syslog"]])
        #expect(devices("app.log", "app.log.old") == [["app.log.old", "app.log"]])
        #expect(
            devices("app.log", "app-20251116.log", "app-2025-11-15.log.gz", "app.2.log", "app.1.log").map(Set.init)
                == [["app.log", "app-20251116.log", "app-2025-11-15.log.gz", "app.2.log", "app.1.log"]]
        )
        #expect(
            devices("app.log", "app-20251116.log", "app-20251115.log")
                == [["app-20251115.log", "app-20251116.log", "app.log"]]
        )
        #expect(devices("var.d/app.log.1", "app.log") == [["var.d/app.log.1"], ["app.log"]])
    }

    @Test(
        "names that only look like rotations stay devices of their own",
        arguments: [
            ["phone.1", "phone.2"], ["phone-20251115", "phone-20251116"], ["a.d/phone.1", "a.d/phone.2"],
            ["device-1.log", "device-2.log"], ["app.log.1000", "app.log"], ["app.log.txt", "app.log"],
            ["app.log-1", "app.log"], ["app-20251115.log", "app-20251116.log"], ["app.1.log", "other.log"],
            ["app-1.log", "app.log"], ["run.d/console", "run-20251115.d/console"], ["foo.d/.old", "foo.d/"],
            ["app.log.", "app.log"], ["app.log.gz", "app.log"], [".log.1", ".log.2"],
        ]
    )
    func namesThatOnlyLookLikeRotations(paths: [String]) {
        #expect(InputDevices(paths, joins: false).inputs == [[0], [1]])
    }

    @Test("joined files are one device, in the order in which they are named")
    func joinedFilesAreOneDevice() {
        #expect(devices("b.log", "a.log", joins: true) == [["b.log", "a.log"]])
        #expect(devices(joins: true) == [])
    }
}
