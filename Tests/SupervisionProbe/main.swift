// SPDX-License-Identifier: Apache-2.0

// A program for tests: says what the service manager handed over to it, one fact a line.

import Glibc
import Journald

func report(_ title: String) {
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

report("first")
for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] where unsafe getenv(name) != nil {
    print("\(name) is still set")
}
report("second")
