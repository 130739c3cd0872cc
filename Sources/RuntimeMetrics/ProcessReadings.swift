// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc

    /// The sources of the process's figures, kept open.
    struct ProcessReadings: ~Copyable, Sendable {
        private static var networkInterval: Duration { .seconds(1) }

        private var statusFile = KeptFile("/proc/self/stat", capacity: 2_048)
        private var networkFile = KeptFile("/proc/self/net/netstat", capacity: 32_768)
        private let descriptors = KeptDirectory("/proc/self/fd")
        private var started: Double?
        private var networkRead: ContinuousClock.Instant?
        private var traffic: NetworkTraffic?

        mutating func status() -> ProcessStatus? {
            statusFile.read { ProcessStatus($0) }
        }

        func openDescriptors() -> Int? {
            descriptors.count()
        }

        mutating func networkTraffic() -> NetworkTraffic? {
            let now = ContinuousClock.now
            if let networkRead, now - networkRead < Self.networkInterval { return traffic }
            networkRead = now
            traffic = networkFile.read { NetworkTraffic($0) }
            return traffic
        }

        /// User and system time of all threads.
        func processorSeconds() -> Double? {
            seconds(of: CLOCK_PROCESS_CPUTIME_ID)
        }

        /// When the process started, in seconds since 1970; the same each time, also when the clock was set since.
        mutating func startSeconds(_ status: ProcessStatus) -> Double? {
            if started == nil, let now = seconds(of: CLOCK_REALTIME), let sinceBoot = seconds(of: CLOCK_BOOTTIME) {
                let ticksPerSecond = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
                started = now - sinceBoot + Double(status.startTicks) / ticksPerSecond
            }
            return started
        }

        func descriptorLimit() -> Double? {
            softLimit(of: RLIMIT_NOFILE)
        }

        func virtualMemoryLimit() -> Double? {
            softLimit(of: RLIMIT_AS)
        }

        static let pageBytes = Double(sysconf(Int32(_SC_PAGESIZE)))

        private func softLimit(of resource: __rlimit_resource) -> Double? {
            var limit = rlimit()
            guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return nil }
            return Double(limit.rlim_cur)
        }

        private func seconds(of clock: clockid_t) -> Double? {
            var time = timespec()
            guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }
#endif
