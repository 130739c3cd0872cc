// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestSupport

/// The service manager's end of `$NOTIFY_SOCKET`, in the abstract namespace: records messages with their time.
final class NotifiedManager: Sendable {
    /// One message: lines of `NAME=value`.
    struct Message: Sendable, CustomStringConvertible {
        let lines: [String]
        let at: ContinuousClock.Instant

        var description: String { lines.joined(separator: " ") }

        /// The value of an assignment, if the message has it.
        subscript(name: String) -> String? {
            lines.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
        }
    }

    struct NoSocket: Error {
        let code: Int32
    }

    private let name = "@dnp-manager-\(UUID().uuidString)"
    private let watchdog: Duration?
    private let descriptor: Int32
    private let heard = Mutex<[Message]>([])
    private let isDone = Atomic(false)

    /// - Parameter watchdog: the silence after which it would restart the service (`WatchdogSec=`).
    init(watchdog: Duration? = nil) throws {
        self.watchdog = watchdog
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8.dropFirst())
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = unsafe withUnsafeBytes(of: address) { raw -> Int32 in
            guard let base = unsafe raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe bind(descriptor, base, length)
        }
        guard result == 0 else { throw NoSocket(code: errno) }
        Thread.detachNewThread { [weak self, descriptor] in
            var buffer = [UInt8](repeating: 0, count: 8_192)
            while let manager = self, !manager.isDone.load(ordering: .acquiring) {
                manager.listen(&buffer)
            }
            close(descriptor)
        }
    }

    deinit {
        isDone.store(true, ordering: .releasing)
    }

    /// The environment of the service.
    var environment: [String: String] {
        var environment = ["NOTIFY_SOCKET": name]
        if let (seconds, attoseconds) = watchdog?.components {
            environment["WATCHDOG_USEC"] = "\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)"
        }
        return environment
    }

    var messages: [Message] { heard.withLock { $0 } }

    /// The values of an assignment, oldest first.
    func values(_ name: String) -> [String] { messages.compactMap { $0[name] } }

    /// Whether the manager would restart the service now: no WATCHDOG=1 within its interval.
    var isWatchdogOverdue: Bool {
        guard let watchdog else { return false }
        let last = heard.withLock { $0.last { $0["WATCHDOG"] == "1" || $0["READY"] == "1" } }
        return last.map { ContinuousClock.now > $0.at + watchdog } ?? false
    }

    /// Forgets all messages.
    func forget() {
        heard.withLock { $0 = [] }
    }

    private func listen(_ buffer: inout [UInt8]) {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, 100) > 0 else { return }
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        let message = Message(lines: text.split(separator: "\n").map(String.init), at: .now)
        heard.withLock { $0.append(message) }
    }
}
