// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("the service's own log")
struct OwnLogTests {
    /// Sets a variable that looks like a setting, of which the service warns, and what tells standard error from the journal.
    private static func wrapper(isJournal: Bool) -> [String] {
        let stream = isJournal ? #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)"# : "JOURNAL_STREAM=1:1"
        return ["/bin/sh", "-c", "\(stream) DNP_TELEMETRY_QUEIT=1 exec \"$@\"", "sh"]
    }

    @Test("with --log-format json all of standard error is objects, one a line, the start screen among them")
    func jsonLog() async throws {
        let port = try FreePort.any()
        let wrapper = Self.wrapper(isJournal: false)
        try await withService(listen: "127.0.0.1:\(port)", options: ["--log-format", "json"], wrapper: wrapper) {
            service in
            let objects = try await awaited("it says that it is ready") {
                let objects = try await service.log.split(separator: "\n").map {
                    try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
                }
                return objects.last?["msg"] == "ready" ? objects : nil
            }
            #expect(objects.map { $0["level"] } == ["warning", "notice"])
            #expect(objects.first?["msg"]?.contains("DNP_TELEMETRY_QUEIT") == true)
            #expect(objects.allSatisfy { $0["ts"]?.hasSuffix("Z") == true })
            #expect(objects.last?["post"] == "http://127.0.0.1:\(port)/v1/events" && objects.last?["journal"] == "off")
        }
    }

    @Test("where standard error goes to the journal, lines begin with their priority and have no time")
    func journalLog() async throws {
        try await withService(wrapper: Self.wrapper(isJournal: true)) { service in
            let warning = "DNP_TELEMETRY_QUEIT: no setting has this variable; did you mean DNP_TELEMETRY_QUIET?"
            #expect(await service.log.split(separator: "\n").contains("<4>\(warning)"))
        }
    }
}
