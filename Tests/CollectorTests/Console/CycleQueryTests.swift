// SPDX-License-Identifier: Apache-2.0

import CycleIndex
import HTTPTypes
import Hummingbird
import LedgerState
import NIOCore
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector

@Suite("The query of a list of cycles")
struct CycleQueryTests {
    private func query(_ text: String) throws -> CycleQuery {
        let directory = try TemporaryDirectory()
        let head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/api/v1/cycles?\(text)")
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        return try CycleQuery(request, key: InstallationKey(directory: directory.path))
    }

    @Test("cycles of an installation are asked for by its pseudonym or by its device, which is the same filter")
    func installation() throws {
        let pseudonym = Pseudonym(high: 0x0123_4567_89AB_CDEF, low: 7)
        let device = String(pseudonym.fingerprint, radix: 16)
        let padded = String(repeating: "0", count: 16 - device.count) + device
        #expect(try query("installation=\(pseudonym.hexadecimal)").filter.installation == pseudonym.fingerprint)
        #expect(try query("installation=\(padded)").filter.installation == pseudonym.fingerprint)
        #expect(try query("installation=").filter.installation == nil)
    }

    @Test(
        "an installation that is neither a pseudonym nor a device is refused with what was expected",
        arguments: ["phone-1", "0123456789abcde", "0123456789abcdef0", "+123456789abcdef", "0123456789abcdeg"]
    )
    func notAnInstallation(text: String) {
        #expect {
            _ = try query("installation=\(text)")
        } throws: { error in
            guard let problem = error as? Problem else { return false }
            return problem.status == .badRequest && problem.detail.contains("16 of a device")
                && !problem.detail.contains(text)
        }
    }
}
