// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DeliveryDriver {
    /// Waits for a wake-up, a change of the journal, and (when asked for) room in journald's queue.
    ///
    /// - Parameter until: The monotonic time in nanoseconds when to stop waiting; nil for no limit.
    func wait(until: UInt64?, forRoom: Bool) {
        var requests = [pollfd(fd: control.wakeDescriptor.descriptor, events: Int16(POLLIN), revents: 0)]
        requests.append(pollfd(fd: watchedDescriptor, events: Int16(POLLIN), revents: 0))
        // Room that isn't there when it comes to sending is waited for by the clock, so that nothing spins.
        let polledSocket = forRoom && vainSends < 3 ? socket?.descriptor ?? -1 : -1
        requests.append(pollfd(fd: polledSocket, events: Int16(POLLOUT), revents: 0))

        let now = MonotonicClock.now()
        var limit = until
        if forRoom, polledSocket < 0 { limit = min(limit ?? .max, now + Self.longestLook) }
        let milliseconds = limit.map { $0 <= now ? 0 : Int32(min(($0 - now + 999_999) / 1_000_000, 60_000)) } ?? -1
        _ = unsafe poll(&requests, nfds_t(requests.count), milliseconds)

        if requests[0].revents != 0 {
            control.wakeDescriptor.clear()
            session.sourceWoke()
        }
        journalChanged = journalChanged || requests[1].revents != 0
        if forRoom, requests[2].revents != 0 || polledSocket < 0 {
            session.roomCame(now: MonotonicClock.now())
        }
    }

    /// A wait's limit, brought forward to the next look into the journal or the next checkpoint.
    func waitLimit(_ until: UInt64?) -> UInt64? {
        guard session.phase == .streaming else { return until }
        let now = MonotonicClock.now()
        var limit = until
        if session.hasUnconfirmed {
            limit = min(limit ?? .max, now + lookPause)
            lookPause = min(lookPause * 2, Self.longestLook)
        } else if isCheckpointDue {
            limit = min(limit ?? .max, checkpointTime + configuration.cursorInterval.nanoseconds)
        } else if mayCloseReader {
            limit = min(limit ?? .max, lastActivity + configuration.readerIdleTime.nanoseconds)
        }
        return limit
    }

    private var watchedDescriptor: Int32 {
        guard session.phase == .streaming, let reader else { return -1 }
        return (try? reader.descriptor()) ?? -1
    }
}
