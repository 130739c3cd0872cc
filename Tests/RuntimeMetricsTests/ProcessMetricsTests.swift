// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import RuntimeMetrics

/// Tests change the process, which other tests would see.
extension OneAtATime {
    @Suite("Process metrics")
    struct ProcessMetricsTests {
        private let page = RuntimePage()

        @Test("process_cpu_seconds_total shows CPU time spent")
        func processorTime() {
            let before = page("process_cpu_seconds_total")
            let start = clock()
            var sum = 0.0
            while clock() - start < CLOCKS_PER_SEC / 10 { sum += 1 }
            let burned = page("process_cpu_seconds_total") - before
            #expect(burned >= 0.1)
            #expect(sum > 0)
        }

        @Test("process_open_fds shows opened files")
        func processMetricsDescriptors() {
            let before = page("process_open_fds")
            let files = (0..<200).map { _ in unsafe open("/dev/null", O_RDONLY) }
            let during = page("process_open_fds")
            for file in files { close(file) }
            #expect(files.allSatisfy { $0 >= 0 })
            #expect(during - before >= 150)
            #expect(page("process_open_fds") <= during - 150)
        }

        @Test("process_max_fds shows a changed limit")
        func processMetricsLimit() {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let original = limit
            limit.rlim_cur -= 1
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let lowered = page("process_max_fds")
            limit = original
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(lowered == Double(original.rlim_cur - 1))
            #expect(page("process_max_fds") == Double(original.rlim_cur))
        }

        @Test("process_resident_memory_bytes shows memory written to")
        func processMetricsMemory() {
            let size = 128 << 20
            let resident = page("process_resident_memory_bytes")
            let virtual = page("process_virtual_memory_bytes")
            let block = [UInt8](repeating: 1, count: size)
            #expect(page("process_resident_memory_bytes") - resident > Double(size) / 2)
            #expect(page("process_virtual_memory_bytes") - virtual > Double(size) / 2)
            #expect(page("process_virtual_memory_max_bytes") >= page("process_virtual_memory_bytes"))
            #expect(block[size - 1] == 1)
        }

        @Test("process_threads shows started threads")
        func processMetricsThreads() {
            let before = page("process_threads")
            let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
            defer { unsafe barrier.deallocate() }
            unsafe pthread_barrier_init(barrier, nil, 11)
            let threads = (0..<10).map { _ in
                var thread = pthread_t()
                let result = unsafe pthread_create(
                    &thread,
                    nil,
                    { barrier in
                        if let barrier = unsafe barrier?.assumingMemoryBound(to: pthread_barrier_t.self) {
                            unsafe pthread_barrier_wait(barrier)
                        }
                        return nil
                    },
                    barrier
                )
                #expect(result == 0)
                return thread
            }
            #expect(page("process_threads") - before >= 8)
            unsafe pthread_barrier_wait(barrier)
            for thread in threads { pthread_join(thread, nil) }
            unsafe pthread_barrier_destroy(barrier)
        }

        @Test("process_network_transmit_bytes_total shows bytes sent over IP")
        func processMetricsNetwork() {
            let before = (page("process_network_receive_bytes_total"), page("process_network_transmit_bytes_total"))
            let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(9).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let datagram = [UInt8](repeating: 0, count: 10_000)
            var sent = 0
            for _ in 0..<100 {
                let result = unsafe withUnsafePointer(to: &address) { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        unsafe sendto(
                            socket,
                            datagram,
                            datagram.count,
                            0,
                            address,
                            socklen_t(MemoryLayout<sockaddr_in>.size)
                        )
                    }
                }
                if result > 0 { sent += result }
            }
            let fresh = RuntimePage()
            // Without an active loopback device nothing can be sent.
            #expect(fresh("process_network_receive_bytes_total") - before.0 >= Double(sent) * 0.9)
            #expect(fresh("process_network_transmit_bytes_total") - before.1 >= Double(sent) * 0.9)
            #expect(fresh("process_network_receive_bytes_total") >= before.0)
        }

        @Test("process_start_time_seconds agrees with the elapsed time of the kernel and is constant")
        func processMetricsStart() throws {
            let started = page("process_start_time_seconds")
            var now = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &now)
            let ticks = try #require(Double(Self.words("/proc/self/stat").dropFirst(21).first ?? ""))
            let uptime = try #require(Double(Self.words("/proc/uptime").first ?? ""))
            let elapsed = uptime - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
            #expect(abs(Double(now.tv_sec) - started - elapsed) <= 2)
            #expect(page("process_start_time_seconds") == started)
        }

        /// The words of a short file; the process name counts as one, whatever it contains.
        private static func words(_ path: String) -> [Substring] {
            let file = unsafe open(path, O_RDONLY)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let length = unsafe read(file, &bytes, bytes.count)
            let text = String(decoding: bytes.prefix(max(length, 0)), as: UTF8.self)
            guard let name = text.lastIndex(of: ")") else { return text.split(separator: " ") }
            return ["1", "name"] + text[text.index(after: name)...].split(separator: " ")
        }
    }
}
