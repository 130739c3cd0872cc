// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Collector

@Suite("The sockets that a service manager hands over")
struct InheritedSocketsTests {
    @Test("are found by their name, all of it, and the rest goes to the listener without one")
    func names() throws {
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

    @Test("have to be stream sockets that listen, of a name that there is")
    func complaints() throws {
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
            (Listener(.inherited(name: "http"), services: .lines), "is an Internet socket, lines need a Unix socket"),
        ]
        for (listener, reason) in expected {
            let complaint = try #require(
                ListeningSocketsTests().complaint(about: [listener], inherited: inherited)
            )
            #expect(complaint.hasPrefix("cannot listen on \(listener.name): ") && complaint.contains(reason))
        }
    }

    @Test("get a backlog of ours, however small theirs was, and do not block")
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
