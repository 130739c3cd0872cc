// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

extension ListeningSockets {
    /// Listens on an address. An empty host is every address of the machine, of both kinds; `::` those of IPv6 alone.
    static func open(_ listener: Listener, host: String, port: Int) throws(CollectorError) -> BoundListener {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(listener, "expected a port from 0 to 65535, found \(port)")
        }
        guard host.isEmpty else {
            return try open(listener, at: try resolve(listener, host, port), isForBothKinds: false)
        }
        do throws(CollectorError) {
            return try open(listener, at: try resolve(listener, "::", port), isForBothKinds: true)
        } catch {
            guard !canSpeakIPv6 else { throw error }
            return try open(listener, at: try resolve(listener, "0.0.0.0", port), isForBothKinds: false)
        }
    }

    /// False where the kernel was started without it.
    private static var canSpeakIPv6: Bool {
        let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    private static func resolve(_ listener: Listener, _ host: String, _ port: Int) throws(CollectorError)
        -> SocketAddress
    {
        do {
            return try SocketAddress.makeAddressResolvingHost(host, port: port)
        } catch {
            throw .cannotListen(listener, "\"\(host)\" is not the name of an address of this machine")
        }
    }

    private static func open(
        _ listener: Listener,
        at address: SocketAddress,
        isForBothKinds: Bool
    ) throws(CollectorError) -> BoundListener {
        let descriptor = try make(listener, address)
        do throws(CollectorError) {
            var yes: CInt = 1
            let size = socklen_t(MemoryLayout<CInt>.size)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
            if case .v6 = address {
                var only: CInt = isForBothKinds ? 0 : 1
                unsafe setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &only, size)
            }
            try bind(descriptor, to: address, for: listener)
            try listen(descriptor, for: listener)
            guard let place = ListeningPlace(of: descriptor) else { throw .cannotListen(listener, code: errno) }
            return BoundListener(
                listener: listener,
                descriptor: descriptor,
                place: place,
                file: nil,
                isInherited: false
            )
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// A stream socket of the address's kind.
    static func make(_ listener: Listener, _ address: SocketAddress) throws(CollectorError) -> Int32 {
        let family =
            switch address {
            case .v4: AF_INET
            case .v6: AF_INET6
            case .unixDomainSocket: AF_UNIX
            }
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw .cannotListen(listener, code: errno) }
        return descriptor
    }

    static func bind(
        _ descriptor: Int32,
        to address: SocketAddress,
        for listener: Listener
    ) throws(CollectorError) {
        let code = unsafe address.withSockAddr { pointer, size -> CInt in
            unsafe Glibc.bind(descriptor, pointer, socklen_t(size)) == 0 ? 0 : errno
        }
        if code != 0 { throw .cannotListen(listener, code: code) }
    }
}
