// SPDX-License-Identifier: Apache-2.0

// A program for tests: says what the service manager handed over to it, one fact a line, or sends the manager what its
// arguments name.

import Glibc
import Journald

func reportInherited(_ title: String) {
    do throws(InheritedDescriptorsError) {
        let inherited = try InheritedDescriptors.take()
        print("\(title) \(inherited.all.count)")
        for descriptor in inherited.all {
            let isClosedOnExec = fcntl(descriptor.number, F_GETFD) & FD_CLOEXEC != 0
            print("\(descriptor.number) \(descriptor.name) \(descriptor.kind) close-on-exec=\(isClosedOnExec)")
        }
    } catch {
        print("\(title) error: \(error)")
    }
}

func reportWatchdog() {
    do throws(SystemError) {
        print("watchdog \(try NotificationSocket.watchdogTimeout().map { "\($0)" } ?? "off")")
    } catch {
        print("watchdog error: \(error)")
    }
}

func send(_ notifications: [ServiceNotification]) {
    guard let socket = NotificationSocket() else { return print("nobody listens") }
    do throws(SystemError) {
        try socket.send(notifications)
        print("sent")
    } catch {
        print("error: \(error)")
    }
}

switch CommandLine.arguments.dropFirst().first {
case "notify":
    send([.ready, .status("it works\nREADY=0\u{1B}[31m: Grüße")])
    send([.reloading(since: 12_345), .watchdog])
    send([.extendTimeout(.milliseconds(2_500)), .stopping, .errno(28)])
    send([])
case "watchdog":
    reportWatchdog()
default:
    reportInherited("first")
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] where unsafe getenv(name) != nil {
        print("\(name) is still set")
    }
    reportInherited("second")
}
