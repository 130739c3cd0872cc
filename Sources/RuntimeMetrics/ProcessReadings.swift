// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc

    /// The sources of the process metrics, kept open.
    struct ProcessReadings: ~Copyable, Sendable {
        private static var networkInterval: Duration { .seconds(1) }

        private var statusFile = ProcFile("/proc/self/stat", capacity: 2_048)
        private var networkFile = ProcFile("/proc/self/net/netstat", capacity: 32_768)
        private let descriptors = ProcDirectory("/proc/self/fd")
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

        /// When the process started, in seconds since 1970; unchanged if the clock is set later.
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

    /// A file of `/proc` that stays open, so that it can be read even when no descriptor is left.
    ///
    /// It is read in one call into the same memory, since the kernel composes such a file anew for each read.
    struct ProcFile: ~Copyable {
        private let descriptor: Int32
        private var bytes: [UInt8]

        /// - Parameter capacity: The maximum bytes that are read.
        init(_ path: String, capacity: Int) {
            descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            bytes = [UInt8](repeating: 0, count: capacity)
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
        }

        /// The result of `body` for the content; nil if it cannot be read.
        mutating func read<Result>(_ body: (Span<UInt8>) -> Result?) -> Result? {
            var length = -1
            repeat {
                length = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
            } while length < 0 && errno == EINTR
            return length > 0 ? body(bytes.span.extracting(..<length)) : nil
        }
    }

    /// A directory of `/proc` that stays open, for use by one thread at a time, since its stream has one position.
    @safe
    struct ProcDirectory: ~Copyable, @unchecked Sendable {
        private let stream: OpaquePointer?

        init(_ path: String) {
            unsafe stream = opendir(path)
        }

        deinit {
            if let stream = unsafe stream { unsafe closedir(stream) }
        }

        /// The number of entries; nil if the directory cannot be read.
        ///
        /// Linux 6.2 and later report it as the size of `/proc/self/fd`; otherwise the entries are counted.
        func count() -> Int? {
            guard let stream = unsafe stream else { return nil }
            var status = stat()
            if unsafe fstat(dirfd(stream), &status) == 0, status.st_size > 0 { return Int(status.st_size) }
            return countByListing()
        }

        /// The number of entries without `.` and `..`.
        func countByListing() -> Int? {
            guard let stream = unsafe stream else { return nil }
            unsafe rewinddir(stream)
            var count = 0
            while let entry = unsafe readdir(stream) {
                if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
            }
            return count
        }
    }
#endif
