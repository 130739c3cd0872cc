// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Opens the listening sockets of the service: all of them, or none.
enum ListeningSockets {
    /// The length of the accept queue; the system's `net.core.somaxconn` may be lower.
    static let backlog: Int32 = 4_096

    /// Binds every listener and listens.
    ///
    /// - Parameter inherited: the sockets passed by the service manager.
    /// - Throws: the first failure, with its remedy; the sockets opened before it are closed.
    static func open(
        _ listeners: [Listener],
        inherited: [InheritedSocket] = []
    ) throws(CollectorError) -> [BoundListener] {
        var opened: [BoundListener] = []
        do throws(CollectorError) {
            for (index, listener) in listeners.enumerated() {
                guard !listeners[..<index].contains(where: { $0.endpoint == listener.endpoint && !$0.takesFreePort })
                else { throw .cannotListen(listener, "it is named twice; name it once") }
                switch listener.endpoint {
                case .address(let host, let port):
                    opened.append(try open(listener, host: host, port: port))
                case .unix(let path, let mode, let group):
                    opened.append(try open(listener, path: path, mode: mode, group: group))
                case .inherited(let name):
                    opened += try take(listener, named: name, of: inherited, besides: listeners)
                }
            }
        } catch {
            for listener in opened { listener.close() }
            throw error
        }
        return opened
    }
}

extension ListeningSockets {
    /// Listens, also on a socket that listens already: the last call sets the backlog.
    static func listen(_ descriptor: Int32, for listener: Listener) throws(CollectorError) {
        if Glibc.listen(descriptor, backlog) != 0 { throw .cannotListen(listener, code: errno) }
    }
}

extension ListeningSockets {
    /// Why an address can never be listened on; nil where it can, unless its port is taken.
    static func refusal(_ listener: Listener) -> CollectorError? {
        guard case .address(let host, let port) = listener.endpoint, !host.isEmpty else { return nil }
        do throws(CollectorError) {
            // On a free port, since the service that is checked for may be running.
            let descriptor = try make(listener, try resolve(listener, host, port))
            defer { close(descriptor) }
            try bind(descriptor, to: try resolve(listener, host, 0), for: listener)
            return nil
        } catch {
            return error
        }
    }
}

// MARK: Addresses

extension ListeningSockets {
    /// Listens on an address. An empty host is every IPv4 and IPv6 address of the machine; `::` is every IPv6 address.
    private static func open(_ listener: Listener, host: String, port: Int) throws(CollectorError) -> BoundListener {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(listener, "expected a port from 0 to 65535, found \(port)")
        }
        guard host.isEmpty else {
            return try open(listener, at: try resolve(listener, host, port), isDualStack: false)
        }
        do throws(CollectorError) {
            return try open(listener, at: try resolve(listener, "::", port), isDualStack: true)
        } catch {
            guard !canSpeakIPv6 else { throw error }
            return try open(listener, at: try resolve(listener, "0.0.0.0", port), isDualStack: false)
        }
    }

    /// Whether the kernel has IPv6.
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
        isDualStack: Bool
    ) throws(CollectorError) -> BoundListener {
        let descriptor = try make(listener, address)
        do throws(CollectorError) {
            var yes: CInt = 1
            let size = socklen_t(MemoryLayout<CInt>.size)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
            if case .v6 = address {
                var only: CInt = isDualStack ? 0 : 1
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

    /// A non-blocking stream socket of the address's family.
    private static func make(_ listener: Listener, _ address: SocketAddress) throws(CollectorError) -> Int32 {
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

    private static func bind(
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

// MARK: Unix sockets

extension ListeningSockets {
    /// Listens on a path. The file gets its mode and group before anyone can connect, since `listen` comes last.
    ///
    /// - Parameters:
    ///   - mode: as of chmod(2); write permission is what connecting needs. Nil: by the process's umask.
    ///   - group: a group's name or number; nil: the process's.
    private static func open(
        _ listener: Listener,
        path: String,
        mode: UInt16?,
        group: String?
    ) throws(CollectorError) -> BoundListener {
        let address = try address(listener, path)
        let group: gid_t? = if let group { try groupID(listener, group) } else { nil }
        let lock = DirectoryLock(ofDirectoryOf: path)
        defer { extendLifetime(lock) }
        try clearPath(listener, path, address)
        let descriptor = try make(listener, address)
        var file: SocketFile?
        do throws(CollectorError) {
            try bind(descriptor, to: address, for: listener)
            file = SocketFile(at: path)
            if let group, unsafe lchown(path, uid_t.max, group) != 0 {
                throw .cannotListen(
                    listener,
                    "its file cannot be given to the group: \(text(errno)); name a group that the service is in"
                )
            }
            if let mode, unsafe chmod(path, mode_t(mode)) != 0 {
                throw .cannotListen(listener, "its file cannot be given the mode: \(text(errno))")
            }
            try listen(descriptor, for: listener)
        } catch {
            close(descriptor)
            file?.remove()
            throw error
        }
        return BoundListener(
            listener: listener,
            descriptor: descriptor,
            place: .unix(path: path),
            file: file,
            isInherited: false
        )
    }

    private static func address(_ listener: Listener, _ path: String) throws(CollectorError) -> SocketAddress {
        guard path.hasPrefix("/") else {
            throw .cannotListen(listener, "expected a path from the root on, such as unix:/run/dnp-telemetry/http.sock")
        }
        // unix(7): sun_path is 108 bytes with the zero at its end.
        guard path.utf8.count < 108, let address = try? SocketAddress(unixDomainSocketPath: path) else {
            throw .cannotListen(
                listener,
                "expected a path of at most 107 bytes, found \(path.utf8.count); choose a shorter one"
            )
        }
        return address
    }

    /// Removes a stale socket; a socket in use, or any other file, is an error.
    private static func clearPath(
        _ listener: Listener,
        _ path: String,
        _ address: SocketAddress
    ) throws(CollectorError) {
        switch SocketFile.look(path) {
        case .absent:
            return
        case .other:
            throw .cannotListen(
                listener,
                "a file that is not a socket exists at the path; remove it or choose another path"
            )
        case .socket(let file):
            let probe = try make(listener, address)
            defer { close(probe) }
            let code = unsafe address.withSockAddr { pointer, size -> CInt in
                unsafe connect(probe, pointer, socklen_t(size)) == 0 ? 0 : errno
            }
            switch code {
            case ECONNREFUSED: file.remove()
            case ENOENT: return
            case EACCES, EPERM:
                throw .cannotListen(
                    listener,
                    "a socket of another user exists at the path; remove it or choose another path"
                )
            default: throw .cannotListen(listener, code: EADDRINUSE)
            }
        }
    }

    private static func groupID(_ listener: Listener, _ name: String) throws(CollectorError) -> gid_t {
        if let number = gid_t(name) { return number }
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        let code = unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        guard unsafe code == 0 && found != nil else {
            throw .cannotListen(listener, "there is no group \"\(name)\"; make it, or name another after group=")
        }
        return unsafe entry.gr_gid
    }

    private static func text(_ code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}

// MARK: Inherited sockets

extension ListeningSockets {
    /// The inherited sockets of a name; without a name, those that no other listener names.
    private static func take(
        _ listener: Listener,
        named name: String?,
        of inherited: [InheritedSocket],
        besides listeners: [Listener]
    ) throws(CollectorError) -> [BoundListener] {
        let others = listeners.compactMap { other -> String? in
            if case .inherited(let name) = other.endpoint { name } else { nil }
        }
        let wanted = inherited.filter { socket in
            if let name { socket.name == name } else { !others.contains(socket.name) }
        }
        guard !wanted.isEmpty else { throw .cannotListen(listener, nothing(named: name, of: inherited)) }
        var taken: [BoundListener] = []
        for socket in wanted { taken.append(try take(listener, socket)) }
        return taken
    }

    private static func take(_ listener: Listener, _ socket: InheritedSocket) throws(CollectorError) -> BoundListener {
        let descriptor = socket.descriptor
        let which = "the inherited socket \"\(socket.name)\""
        guard option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue) else {
            throw .cannotListen(listener, "\(which) is not a stream socket; pass it with ListenStream=")
        }
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw .cannotListen(listener, "\(which) does not listen; its unit needs Accept=no and ListenStream=")
        }
        guard let place = ListeningPlace(of: descriptor) else {
            throw .cannotListen(listener, "\(which) is neither an Internet nor a Unix socket")
        }
        if listener.services == .lines, case .internet = place {
            throw .cannotListen(
                listener,
                "\(which) is an Internet socket, lines need a Unix socket; set ListenStream=/PATH"
            )
        }
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw .cannotListen(listener, code: errno) }
        try listen(descriptor, for: listener)
        return BoundListener(listener: listener, descriptor: descriptor, place: place, file: nil, isInherited: true)
    }

    private static func option(_ name: CInt, of descriptor: Int32) -> CInt? {
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func nothing(named name: String?, of inherited: [InheritedSocket]) -> String {
        if inherited.isEmpty {
            return "no socket was inherited; start the service through its socket unit, or choose an address"
        }
        let names = Set(inherited.map(\.name)).sorted().joined(separator: ", ")
        guard let name else { return "every inherited socket (\(names)) has a listener of its own" }
        return "no socket named \"\(name)\" was inherited, but \(names); set its FileDescriptorName="
    }
}

extension Listener {
    /// The listener as the configuration writes it, without its attributes.
    var name: String {
        switch endpoint {
        case .address(let host, let port): ListeningPlace.internet(host: host, port: port).description
        case .unix(let path, _, _): ListeningPlace.unix(path: path).description
        case .inherited(let name): name.map { "systemd:\($0)" } ?? "systemd"
        }
    }
}

extension CollectorError {
    /// - Parameter reason: what was found, and what to do.
    fileprivate static func cannotListen(_ listener: Listener, _ reason: String) -> CollectorError {
        CollectorError("cannot listen on \(listener.name): \(reason)")
    }

    fileprivate static func cannotListen(_ listener: Listener, code: Int32) -> CollectorError {
        switch code {
        case EADDRINUSE:
            cannotListen(listener, "another process uses it; stop it or choose another --listen")
        case EADDRNOTAVAIL:
            cannotListen(listener, "this machine has no such address; choose one of its own, or :PORT for all")
        case EAFNOSUPPORT:
            cannotListen(listener, "this machine does not support that address family; choose another --listen")
        case EACCES, EPERM:
            switch listener.endpoint {
            case .unix:
                cannotListen(listener, "permission denied; choose a directory that the service may write to")
            default:
                cannotListen(listener, "permission denied; choose a port above 1023")
            }
        case ENOENT, ENOTDIR:
            cannotListen(listener, "its directory does not exist; make it, or choose another path")
        case EROFS:
            cannotListen(listener, "its directory can only be read; choose another path")
        default:
            cannotListen(listener, unsafe String(cString: strerror(code)))
        }
    }
}

/// The exclusive right of one process to check a path and to bind it: flock(2) on the directory, which leaves no file
/// behind.
private struct DirectoryLock: ~Copyable {
    private static let attempts = 100
    private static let pauseMicroseconds: UInt32 = 20_000

    private let descriptor: Int32

    /// Waits for the lock for two seconds at most, and goes on without it then.
    init(ofDirectoryOf path: String) {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        descriptor = unsafe open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        for _ in 0..<Self.attempts where flock(descriptor, LOCK_EX | LOCK_NB) != 0 { usleep(Self.pauseMicroseconds) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
