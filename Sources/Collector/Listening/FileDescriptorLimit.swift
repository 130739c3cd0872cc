// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `rlimit` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// How many files and sockets the process may have open (RLIMIT_NOFILE, getrlimit(2)).
enum FileDescriptorLimit {
    /// Raises it to what the process may have at most.
    ///
    /// - Returns: the limit from now on.
    static func raise() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
