// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Descriptors passed by the service manager")
    struct InheritedDescriptorsTests {
        @Test("sockets of systemd-socket-activate have their names and close-on-exec, and are taken once")
        func activated() throws {
            let port = try Probe.freePort()
            let lines = try Probe.activated(
                [
                    "--listen=@dnp-test-http", "--listen=@dnp-test-lines", "--listen=127.0.0.1:\(port)",
                    "--listen=[::1]:\(port)", "--fdname=a:b:a:c",
                ],
                connectingTo: "dnp-test-http"
            )
            #expect(
                lines == [
                    "first 4",
                    "3 a listener(Journald.InheritedDescriptor.SocketFamily.unix) close-on-exec=true",
                    "4 b listener(Journald.InheritedDescriptor.SocketFamily.unix) close-on-exec=true",
                    "5 a listener(Journald.InheritedDescriptor.SocketFamily.ipv4) close-on-exec=true",
                    "6 c listener(Journald.InheritedDescriptor.SocketFamily.ipv6) close-on-exec=true",
                    "second 0",
                ]
            )
        }

        @Test(
            "passed descriptors that are no sockets are reported as such",
            arguments: [
                ("3</dev/null", "3 x noSocket close-on-exec=true"),
                ("3</proc/self/comm", "3 x noSocket close-on-exec=true"),
            ]
        )
        func others(redirection: String, expected: String) throws {
            let lines = try Probe.started("LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x", redirection)
            #expect(lines == ["first 1", expected, "second 0"])
        }

        @Test("passed descriptors without names are unknown, and those of another process are ignored")
        func unnamed() throws {
            let unnamed = try Probe.started("LISTEN_PID=$$ LISTEN_FDS=2", "3</dev/null 4</dev/null")
            #expect(unnamed.prefix(3).map { $0.prefix(9) } == ["first 2", "3 unknown", "4 unknown"])
            let foreign = try Probe.started("LISTEN_PID=1 LISTEN_FDS=1", "3</dev/null")
            #expect(foreign == ["first 0", "second 0"])
            #expect(try Probe.started("", "") == ["first 0", "second 0"])
        }

        @Test(
            "an invalid LISTEN_FDS environment is an error and never a crash",
            arguments: [
                "LISTEN_FDS=3", "LISTEN_FDS=2147483647", "LISTEN_FDS=99999999999", "LISTEN_FDS=x", "LISTEN_FDS=-1",
                "LISTEN_FDS=1 LISTEN_FDNAMES=a:b",
            ]
        )
        func nonsense(environment: String) throws {
            let lines = try Probe.started("LISTEN_PID=$$ \(environment)", "3</dev/null")
            let error = try #require(lines.first)
            #expect(error.hasPrefix("first error: the descriptors of LISTEN_FDS are unusable"))
            #expect(lines.dropFirst() == ["second 0"])
        }

        @Test("the kinds of inherited sockets are distinguished")
        func kinds() throws {
            var pair: [Int32] = [0, 0]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
            defer { for descriptor in pair + [datagram, listener] { close(descriptor) } }
            #expect(InheritedDescriptor.Kind(of: pair[0]) == .stream)
            #expect(InheritedDescriptor.Kind(of: datagram) == .otherSocket)
            #expect(InheritedDescriptor.Kind(of: listener) == .stream)
            try #require(listen(listener, 1) == 0)
            #expect(InheritedDescriptor.Kind(of: listener) == .listener(.ipv6))
        }

        static let sample = InheritedDescriptors([
            InheritedDescriptor(number: 3, name: "http", kind: .listener(.ipv4)),
            InheritedDescriptor(number: 4, name: "lines", kind: .listener(.unix)),
            InheritedDescriptor(number: 5, name: "http", kind: .listener(.ipv6)),
        ])

        @Test("inherited listeners are found by name, or all except named ones")
        func named() throws {
            #expect(try Self.sample.listeners(named: "http").map(\.number) == [3, 5])
            #expect(try Self.sample.listeners().map(\.number) == [3, 4, 5])
            #expect(try Self.sample.listeners(exceptNamed: ["http"]).map(\.number) == [4])
            #expect(Self.sample.names == ["http", "lines"])
        }

        @Test("a missing listener name is refused with the existing names, and a non-listening socket with its kind")
        func refused() {
            #expect(throws: InheritedDescriptorsError.notHandedOver(name: "web", names: ["http", "lines"])) {
                _ = try Self.sample.listeners(named: "web")
            }
            #expect(throws: InheritedDescriptorsError.notHandedOver(name: nil, names: [])) {
                _ = try InheritedDescriptors([]).listeners()
            }
            let datagram = InheritedDescriptor(number: 3, name: "web", kind: .otherSocket)
            #expect(throws: InheritedDescriptorsError.noListener(datagram)) {
                _ = try InheritedDescriptors([datagram]).listeners(named: "web")
            }
            #expect(
                "\(InheritedDescriptorsError.notHandedOver(name: "web", names: ["http", "lines"]))" == """
                    expected a socket named "web" from the service manager, found only "http", "lines"; \
                    start the socket unit, and name it with FileDescriptorName=
                    """
            )
            #expect(
                "\(InheritedDescriptorsError.noListener(datagram))" == """
                    expected a listening stream socket, but descriptor 3 ("web") is a socket that is no stream; \
                    use ListenStream= and Accept=no in the socket unit
                    """
            )
        }
    }
}
