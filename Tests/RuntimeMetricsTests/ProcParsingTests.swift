// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing

@testable import RuntimeMetrics

@Suite("Parsing /proc")
struct ProcessTextsTests {
    private static let stat =
        "42 (swift) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 9 0 12345 8192000 250 18446744073709551615 1"

    private func status(_ text: String) -> ProcessStatus? {
        ProcessStatus(Array(text.utf8).span)
    }

    private func traffic(_ text: String) -> NetworkTraffic? {
        NetworkTraffic(Array(text.utf8).span)
    }

    @Test(
        "the figures of /proc/self/stat are found after any process name",
        arguments: ["(swift)", "()", "(a b)", "(1) S 2 3)", "(((()", "())) S 1 1)", "(\n)"]
    )
    func names(name: String) throws {
        let text = Self.stat.split(separator: "(swift)", maxSplits: 1).joined(separator: name)
        let status = try #require(self.status(text))
        #expect(status.threads == 9)
        #expect(status.startTicks == 12_345)
        #expect(status.virtualBytes == 8_192_000)
        #expect(status.residentPages == 250)
    }

    @Test("a truncated or foreign /proc/self/stat gives no status")
    func brokenStatus() {
        let bytes = Array(Self.stat.utf8)
        let needed = bytes.count - " 18446744073709551615 1".utf8.count - 3
        for length in 0..<needed { #expect(status(String(decoding: bytes[..<length], as: UTF8.self)) == nil) }
        for wrong in [
            "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 x 0 1 2 3",
            "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 0 1 99999999999999999999999 3",
        ] {
            #expect(status(wrong) == nil)
        }
    }

    @Test("octets are found by column name")
    func processTextsColumns() throws {
        let text = """
            TcpExt: A InOctets B
            TcpExt: 1 2 3
            IpExt: X OutOctets Y InOctets
            IpExt: 7 4000000000000 8 18446744073709551615
            MPTcpExt: InOctets
            MPTcpExt: 0

            """
        let traffic = try #require(self.traffic(text))
        #expect(traffic.received == .max)
        #expect(traffic.sent == 4_000_000_000_000)
    }

    @Test(
        "malformed octets give no network traffic",
        arguments: [
            "", "\n", "IpExt:", "IpExt: InOctets OutOctets\n", "IpExt: InOctets OutOctets\nIpExt: 1\n",
            "IpExt: InOctets\nIpExt: 1 2\n", "IpExt: InOctets OutOctets\nIpExt: 1 -2\n",
            "IpExt: InOctets OutOctets\nTcpExt: 1 2\n", "IpExt: InOctets OutOctets\nIpExt: 1 18446744073709551616\n",
        ]
    )
    func noTraffic(text: String) {
        #expect(traffic(text) == nil)
    }

    @Test("directory entries are counted without . and .., again after another is created")
    func processTextsListing() {
        var template = Array("/tmp/entries-XXXXXX".utf8CString)
        let path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) } ?? ""
        }
        let directory = ProcDirectory(path)
        #expect(directory.countByListing() == 0)
        for name in ["a", "b"] { close(unsafe creat("\(path)/\(name)", 0o600)) }
        #expect(directory.countByListing() == 2)
        #expect(directory.countByListing() == 2)
        for name in ["a", "b"] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
        #expect(ProcDirectory(path).count() == nil)
    }

    @Test("a missing file gives nothing; of a long one the beginning is read")
    func processTextsFiles() {
        var missing = ProcFile("/proc/self/missing", capacity: 10)
        #expect(missing.read { $0.count } == nil)
        var long = ProcFile("/proc/self/net/netstat", capacity: 10)
        #expect(long.read { $0.count } == 10)
    }
}

@Suite("Shared /proc readings")
struct SharedReadingsTests {
    @Test("a /proc reading blocks no other scrape")
    func sharedReadingsConcurrent() {
        let readings = SharedReadings()
        var uses = 0
        readings.use { _ in
            uses += 1
            let ended = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                readings.use { _ in Issue.record("two threads use them at once") }
                ended.signal()
            }
            #expect(ended.wait(timeout: .now() + 20) == .success)
        }
        readings.use { _ in uses += 1 }
        #expect(uses == 2)
    }
}
