// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Collector

extension OneAtATime {
    @Suite("The sockets that are listened on")
    struct ListeningSocketsTests {
        @Test(
            "listening sockets are of an address, a name or every address, with the port that they really have",
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

        @Test(
            "listening sockets of a path have their mode and group, take connections, and their file goes when listening ends"
        )
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

        @Test("listening sockets take the place of a dead process's socket, and leave a living one and its file alone")
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
            #expect(
                said == "cannot listen on unix:\(path): another process uses it; stop it or choose another --listen"
            )
            #expect(SocketProbe.connects(path: path))
        }

        @Test(
            "listening sockets of a path are had by one of those that begin at once where a dead process's socket is, and stay its own"
        )
        func listeningSocketsTogether() throws {
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

        @Test("listening sockets leave a file alone that another one has made in the place of theirs")
        func listeningSocketsReplaced() throws {
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

        @Test("listening sockets are all had or none: what was opened is given up again")
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

        @Test("listening sockets that cannot be had say why and what to do")
        func listeningSocketsComplaints() throws {
            let directory = try TemporaryDirectory()
            let file = directory.file("file")
            try Data("text".utf8).write(to: URL(fileURLWithPath: file))
            let long = directory.file(String(repeating: "s", count: 108))
            let expected: [(Listener.Endpoint, String)] = [
                (
                    .unix(path: file, mode: nil, group: nil),
                    "a file that is not a socket exists at the path; remove it"
                ),
                (.unix(path: long, mode: nil, group: nil), "expected a path of at most 107 bytes, found"),
                (
                    .unix(path: directory.file("no/x.sock"), mode: nil, group: nil),
                    "its directory does not exist; make it"
                ),
                (.unix(path: "x.sock", mode: nil, group: nil), "expected a path from the root on, such as unix:/run"),
                (
                    .unix(path: directory.file("x.sock"), mode: nil, group: "no-such-group"),
                    "there is no group \"no-such-group\"; make it, or name another after group="
                ),
                (.address(host: "192.0.2.1", port: 0), "this machine has no such address; choose one of its own"),
                (
                    .address(host: "no.such.host.invalid", port: 0),
                    "\"no.such.host.invalid\" is not the name of an address"
                ),
                (.inherited(name: "http"), "no socket was inherited; start the service through its socket unit"),
            ]
            for (endpoint, reason) in expected {
                let said = try #require(complaint(about: [Listener(endpoint)]))
                #expect(said.hasPrefix("cannot listen on \(Listener(endpoint).name): \(reason)"))
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "text")
        }
    }
}

extension OneAtATime.ListeningSocketsTests {
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

extension OneAtATime {
    @Suite("The sockets that a service manager hands over")
    struct InheritedSocketsTests {
        @Test("inherited sockets are found by their whole name, and the rest goes to the listener without one")
        func inheritedSocketsNames() throws {
            let sockets = try ListeningSockets.open((0..<4).map { _ in Listener(.address(host: "127.0.0.1", port: 0)) })
            defer { sockets.forEach { $0.close() } }
            let inherited = zip(["http", "http", "admin", "other"], sockets).map {
                InheritedSocket(name: $0, descriptor: $1.descriptor)
            }
            let taken = try ListeningSockets.open(
                [
                    Listener(.inherited(name: "http"), services: .ingest),
                    Listener(.inherited(name: nil), services: .metrics),
                    Listener(.inherited(name: "admin")),
                ],
                inherited: inherited
            )
            #expect(taken.map(\.descriptor) == [0, 1, 3, 2].map { sockets[$0].descriptor })
            #expect(taken.map(\.place) == [0, 1, 3, 2].map { sockets[$0].place })
            #expect(taken.allSatisfy { $0.isInherited && $0.file == nil })
        }

        @Test("inherited sockets have to be stream sockets that listen, of a name that there is")
        func inheritedSocketsComplaints() throws {
            let stream = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            let datagram = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            let listening = try ListeningSockets.open([Listener(.address(host: "127.0.0.1", port: 0))])
            defer {
                close(stream)
                close(datagram)
                listening.forEach { $0.close() }
            }
            let inherited =
                [
                    InheritedSocket(name: "stream", descriptor: stream),
                    InheritedSocket(name: "datagram", descriptor: datagram),
                ]
                + listening.map { InheritedSocket(name: "http", descriptor: $0.descriptor) }
            let expected: [(Listener, String)] = [
                (Listener(.inherited(name: "stream")), "does not listen; its unit needs Accept=no and ListenStream="),
                (Listener(.inherited(name: "datagram")), "is not a stream socket; pass it with ListenStream="),
                (Listener(.inherited(name: "lines")), "was inherited, but datagram, http, stream; set its"),
                (
                    Listener(.inherited(name: "http"), services: .lines),
                    "is an Internet socket, lines need a Unix socket"
                ),
            ]
            for (listener, reason) in expected {
                let complaint = try #require(
                    ListeningSocketsTests().complaint(about: [listener], inherited: inherited)
                )
                #expect(complaint.hasPrefix("cannot listen on \(listener.name): ") && complaint.contains(reason))
            }
        }

        @Test("inherited sockets get a backlog of ours, however small theirs was, and do not block")
        func backlog() throws {
            let made = try ListeningSockets.open([Listener(.address(host: "127.0.0.1", port: 0))])
            defer { made.forEach { $0.close() } }
            let socket = try #require(made.first)
            let descriptor = socket.descriptor
            listen(descriptor, 1)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            _ = try ListeningSockets.open(
                [Listener(.inherited(name: nil))],
                inherited: [InheritedSocket(name: "http", descriptor: descriptor)]
            )
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            guard case .internet(_, let port) = socket.place else { return }
            // Nothing is accepted: all of these wait.
            let clients = (0..<100).compactMap { _ in SocketProbe.connected(port: port) }
            #expect(clients.count == 100)
            for client in clients { close(client) }
        }
    }
}

@Suite("What is shown of listeners")
struct ListeningAddressTests {
    @Test(
        "a listener is shown as a URL that works on this machine",
        arguments: [
            ("127.0.0.1", "http://127.0.0.1:10/metrics"), ("0.0.0.0", "http://127.0.0.1:10/metrics"),
            ("::1", "http://[::1]:10/metrics"), ("::", "http://localhost:10/metrics"),
        ]
    )
    func urls(host: String, url: String) {
        let address = ListeningAddress(place: .internet(host: host, port: 10), services: .metrics, scheme: "http")
        #expect(address.url("/metrics") == url)
        #expect(address.curl("/metrics") == url)
    }

    @Test("the start screen lists listeners by what each serves, with commands for the first of a kind")
    func screen() {
        let screen = StartScreen(
            addresses: [
                ListeningAddress(place: .internet(host: "127.0.0.1", port: 1), services: .metrics, scheme: "https"),
                ListeningAddress(place: .unix(path: "/run/in.sock"), services: .ingest, scheme: "http"),
                ListeningAddress(
                    place: .internet(host: "::1", port: 2),
                    services: [.ingest, .metrics],
                    scheme: "http"
                ),
                ListeningAddress(place: .unix(path: "/run/lines.sock"), services: .lines, scheme: "http"),
            ],
            ledger: "/state/ledger.sqlite",
            opening: .created,
            journal: "off",
            durability: .process
        )
        let text = screen.description
        #expect(
            text.contains(
                """
                  post     unix:/run/in.sock /v1/events
                  post     http://[::1]:2/v1/events
                  scrape   https://127.0.0.1:1/metrics
                  scrape   http://[::1]:2/metrics
                  lines    unix:/run/lines.sock
                  ledger   /state/ledger.sqlite (
                """
            )
        )
        #expect(text.contains("  curl -s --unix-socket /run/in.sock http://localhost/v1/events -H "))
        #expect(text.contains("  curl -s https://127.0.0.1:1/metrics | grep "))
    }

    @Test("a 404 says what a listener does not serve, and names what it does")
    func notFound() {
        let served = ServedPaths(metricsPath: "/m", hasReload: true)
        #expect(served.serves("/v1/events", .ingest) && !served.serves("/m", .ingest))
        #expect(served.serves("/m", .metrics) && !served.serves("/v1/events", .metrics))
        #expect(served.serves("/-/ready", .metrics) && served.serves("/-/healthy", .ingest))
        #expect(served.notFound(.metrics).detail == "Expected /m, /-/healthy, /-/ready or /-/reload.")
        #expect(served.notFound(.ingest).detail == "Expected /-/healthy, /-/ready or /v1/events.")
    }

    @Test("the Date header is as HTTP writes it")
    func date() {
        #expect(ServerHeaders.date(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(ServerHeaders.date(at: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}

/// Connects as a client does.
enum SocketProbe {
    static func connects(port: Int) -> Bool {
        guard let client = connected(port: port) else { return false }
        close(client)
        return true
    }

    /// A client's socket that is connected to a port of 127.0.0.1 or else ::1; nil where nobody listens.
    ///
    /// - Parameter receiveBuffer: how much the system keeps for it unread, in bytes; nil: as usual.
    static func connected(port: Int, receiveBuffer: Int32? = nil) -> Int32? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        if let client = connected(AF_INET, address, receiveBuffer) { return client }
        var other = sockaddr_in6()
        other.sin6_family = sa_family_t(AF_INET6)
        other.sin6_port = in_port_t(port).bigEndian
        other.sin6_addr = in6addr_loopback
        return connected(AF_INET6, other, receiveBuffer)
    }

    static func connects(path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        guard let client = connected(AF_UNIX, address) else { return false }
        close(client)
        return true
    }

    static func nameOfGroup(_ id: gid_t) -> String? {
        guard let entry = unsafe getgrgid(id) else { return nil }
        return unsafe String(cString: entry.pointee.gr_name)
    }

    private static func connected<Address>(
        _ family: CInt,
        _ address: Address,
        _ receiveBuffer: Int32? = nil
    ) -> Int32? {
        let client = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            unsafe setsockopt(client, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        let status = unsafe withUnsafeBytes(of: address) { bytes -> CInt in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe connect(client, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if status == 0 { return client }
        close(client)
        return nil
    }
}
