// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Opens what the service listens on: all of it, or nothing.
enum ListeningSockets {
    /// How many connections wait to be accepted; the system's `net.core.somaxconn` may be lower.
    static let backlog: Int32 = 4_096

    /// Binds every listener and listens.
    ///
    /// - Parameter inherited: what the service manager has handed over.
    /// - Throws: what the operator can do about the first that cannot be had; those before it are given up.
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
    /// Listens, also where that was done before: the backlog is the last one told.
    static func listen(_ descriptor: Int32, for listener: Listener) throws(CollectorError) {
        if Glibc.listen(descriptor, backlog) != 0 { throw .cannotListen(listener, code: errno) }
    }
}

extension Listener {
    /// As the configuration names it, without its attributes.
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
    static func cannotListen(_ listener: Listener, _ reason: String) -> CollectorError {
        CollectorError("cannot listen on \(listener.name): \(reason)")
    }

    static func cannotListen(_ listener: Listener, code: Int32) -> CollectorError {
        switch code {
        case EADDRINUSE:
            cannotListen(listener, "another process does; stop it or choose another --listen")
        case EADDRNOTAVAIL:
            cannotListen(listener, "this machine has no such address; choose one of its own, or :PORT for all")
        case EAFNOSUPPORT:
            cannotListen(listener, "this machine does not speak that kind of address; choose another --listen")
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
