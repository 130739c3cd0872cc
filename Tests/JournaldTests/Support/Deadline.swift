// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A limit for waiting until something holds.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(_ duration: Duration = .seconds(60)) {
        end = ContinuousClock.now + duration
    }

    var hasPassed: Bool { ContinuousClock.now >= end }

    /// Looks every few milliseconds, or as soon as the descriptor is readable, whether something holds.
    ///
    /// - Throws: ``TestFailure`` with the description when it doesn't hold in time.
    func wait(for what: @autoclosure () -> String, wakingOn descriptor: Int32 = -1, _ holds: () throws -> Bool) throws {
        while try !holds() {
            guard !hasPassed else { throw TestFailure("waited in vain for \(what())") }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&request, 1, 5)
        }
    }
}
