// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Collector

@Suite("The sockets that are listened on")
struct ListeningSocketsTests {
    @Test(
        "are of an address, a name or every address, with the port that they really have",
        arguments: ["127.0.0.1", "localhost", ""]
    )
    func address(host: String) throws {
        let opened = try ListeningSockets.open([Listener(.address(host: host, port: 0))])
        defer { opened.forEach { $0.close() } }
        guard case .internet(let shown, let port) = try #require(opened.first).place else {
            Issue.record("not of the Internet")
            return
        }
        #expect(port > 0)
        #expect(host.isEmpty ? ["::", "0.0.0.0"].contains(shown) : ["127.0.0.1", "::1"].contains(shown))
        #expect(SocketProbe.connects(port: port))
    }

    @Test("of a path have their mode and group, take connections, and their file goes when listening ends")
    func unix() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("http.sock")
        let group = try #require(SocketProbe.nameOfGroup(getegid()))
        let opened = try ListeningSockets.open([Listener(.unix(path: path, mode: 0o640, group: group))])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(attributes[.groupOwnerAccountName] as? String == group)
        #expect(SocketProbe.connects(path: path))
        opened.forEach { $0.close() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("take the place of a dead process's socket, and leave a living one and its file alone")
    func stale() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("http.sock")
        let listener = Listener(.unix(path: path, mode: nil, group: nil))
        let dead = try ListeningSockets.open([listener])
        for socket in dead { close(socket.descriptor) }
        #expect(FileManager.default.fileExists(atPath: path))

        let living = try ListeningSockets.open([listener])
        defer { living.forEach { $0.close() } }
        let said = complaint(about: [listener])
        #expect(said == "cannot listen on unix:\(path): another process uses it; stop it or choose another --listen")
        #expect(SocketProbe.connects(path: path))
    }

    @Test("of a path are had by one of those that begin at once where a dead process's socket is, and stay its own")
    func together() throws {
        let directory = try TemporaryDirectory()
        let listener = Listener(.unix(path: directory.file("http.sock"), mode: 0o600, group: nil))
        for _ in 0..<200 {
            for socket in try ListeningSockets.open([listener]) { close(socket.descriptor) }
            let opened = Mutex<[BoundListener]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                if let sockets = try? ListeningSockets.open([listener]) { opened.withLock { $0 += sockets } }
            }
            let living = opened.withLock { $0 }
            #expect(living.count == 1)
            #expect(SocketProbe.connects(path: directory.file("http.sock")))
            for socket in living { socket.close() }
        }
    }

    @Test("leave a file alone that another one has made in the place of theirs")
    func replaced() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("http.sock")
        let listener = Listener(.unix(path: path, mode: nil, group: nil))
        let first = try ListeningSockets.open([listener])
        try FileManager.default.moveItem(atPath: path, toPath: directory.file("moved.sock"))
        let second = try ListeningSockets.open([listener])
        defer { second.forEach { $0.close() } }
        first.forEach { $0.close() }
        #expect(SocketProbe.connects(path: path))
    }

    @Test("are all had or none: what was opened is given up again")
    func allOrNothing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("http.sock")
        let taken = try ListeningSockets.open([Listener(.address(host: "127.0.0.1", port: 0))])
        defer { taken.forEach { $0.close() } }
        guard case .internet(_, let port) = try #require(taken.first).place else { return }
        let said = complaint(about: [
            Listener(.unix(path: path, mode: nil, group: nil)), Listener(.address(host: "127.0.0.1", port: port)),
        ])
        #expect(said?.hasPrefix("cannot listen on 127.0.0.1:\(port): another process uses it;") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("that cannot be had say why and what to do")
    func complaints() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("file")
        try Data("text".utf8).write(to: URL(fileURLWithPath: file))
        let long = directory.file(String(repeating: "s", count: 108))
        let expected: [(Listener.Endpoint, String)] = [
            (.unix(path: file, mode: nil, group: nil), "a file that is not a socket exists at the path; remove it"),
            (.unix(path: long, mode: nil, group: nil), "expected a path of at most 107 bytes, found"),
            (.unix(path: directory.file("no/x.sock"), mode: nil, group: nil), "its directory does not exist; make it"),
            (.unix(path: "x.sock", mode: nil, group: nil), "expected a path from the root on, such as unix:/run"),
            (
                .unix(path: directory.file("x.sock"), mode: nil, group: "no-such-group"),
                "there is no group \"no-such-group\"; make it, or name another after group="
            ),
            (.address(host: "192.0.2.1", port: 0), "this machine has no such address; choose one of its own"),
            (.address(host: "no.such.host.invalid", port: 0), "\"no.such.host.invalid\" is not the name of an address"),
            (.inherited(name: "http"), "no socket was inherited; start the service through its socket unit"),
        ]
        for (endpoint, reason) in expected {
            let said = try #require(complaint(about: [Listener(endpoint)]))
            #expect(said.hasPrefix("cannot listen on \(Listener(endpoint).name): \(reason)"))
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "text")
    }
}

extension ListeningSocketsTests {
    /// What is said when these cannot be had.
    func complaint(about listeners: [Listener], inherited: [InheritedSocket] = []) -> String? {
        do throws(CollectorError) {
            for socket in try ListeningSockets.open(listeners, inherited: inherited) { socket.close() }
            return nil
        } catch {
            return error.description
        }
    }
}
