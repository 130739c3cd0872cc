// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Dispatch
import Journald
import Logging
import Synchronization
import Testing

@testable import Collector

@Suite("The line to the service manager")
struct ManagerLineTests {
    @Test("a manager that takes nothing for long hears READY and STOPPING all the same, and few of the other messages")
    func busyManager() async {
        let isTaking = DispatchSemaphore(value: 0)
        let heard = Mutex<[[ServiceNotification]]>([])
        let line = ManagerLine(Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }) { message in
            isTaking.wait()
            isTaking.signal()
            heard.withLock { $0.append(message) }
        }
        for number in 0..<200 { line.send([.extendTimeout(.seconds(60)), .status("\(number)")]) }
        line.send([.ready, .status("ready")])
        for _ in 0..<200 { line.send([.watchdog]) }
        line.send([.stopping, .status("stopping")])
        isTaking.signal()
        await waitUntil("all is heard") { heard.withLock { $0.last?.first == .stopping } }
        let messages = heard.withLock { $0 }
        #expect(messages.count <= 66)
        #expect(messages.suffix(2).map(\.first) == [.ready, .stopping])
    }
}
