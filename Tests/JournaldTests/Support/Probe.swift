// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Runs `supervision-probe`, a process of its own, and gives the lines that it prints.
enum Probe {
    /// Built beside the test bundle.
    static let path: String = {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? executable
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path + "/supervision-probe"
    }()

    /// Starts it by the shell with an environment and redirections; `$$` is its process id.
    static func started(
        _ environment: String,
        _ redirections: String,
        arguments: [String] = []
    ) throws -> [String] {
        let program = ([path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let command = "export _=_ \(environment); exec \(program) \(redirections)"
        return lines(try ChildProcess.output(of: "/bin/sh", ["-c", command]))
    }

    /// Starts it by systemd-socket-activate and the first connection to an abstract socket.
    static func activated(_ options: [String], connectingTo name: String) throws -> [String] {
        let output = FileManager.default.temporaryDirectory.path + "/supervision-probe-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: output) }
        let activator = try ChildProcess("/usr/bin/systemd-socket-activate", options + [path], output: output)
        defer { activator.signal(SIGKILL) }
        var connection: Int32 = -1
        try Deadline().wait(for: "systemd-socket-activate to listen at @\(name)") {
            connection = connect(abstract: name)
            return connection >= 0
        }
        defer { close(connection) }
        guard activator.wait() == 0 else { throw TestFailure("the activated program failed") }
        return lines(Array(try Data(contentsOf: URL(fileURLWithPath: output))))
    }

    /// A port of the loopback address that nobody listens on, for programs that take no port 0.
    static func freePort() throws -> UInt16 {
        let made = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(made) }
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            guard listen(made, 1) == 0 else { return -1 }
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe getsockname(made, base, &length)
        }
        guard result == 0 else { throw TestFailure("no free port: error \(errno)") }
        return UInt16(bigEndian: address.sin6_port)
    }

    private static func connect(abstract name: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.dropFirst().copyBytes(from: name.utf8) }
        let length = MemoryLayout<sa_family_t>.size + 1 + name.utf8.count
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let result = unsafe withUnsafeBytes(of: address) { bytes -> Int32 in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe Glibc.connect(made, base, socklen_t(length))
        }
        guard result == 0 else {
            close(made)
            return -1
        }
        return made
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// The manager's end of `$NOTIFY_SOCKET`: a datagram socket at a path, or at an abstract name behind an `@`.
final class ListeningManager: Sendable {
    private let descriptor: Int32
    private let name: String

    init(_ name: String) throws {
        self.name = name
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = unsafe withUnsafeBytes(of: address) { raw -> Int32 in
            guard let base = unsafe raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe bind(descriptor, base, length)
        }
        guard result == 0 else { throw TestFailure("no socket at \(name): error \(errno)") }
    }

    deinit {
        close(descriptor)
        if !name.hasPrefix("@") { unsafe unlink(name) }
    }

    /// The messages that wait.
    func received() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return messages }
            messages.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}
