// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension ListeningSockets {
    /// What was handed over under a name; without one, what no other listener names.
    static func take(
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
        let which = "the socket \"\(socket.name)\" that was handed over"
        guard option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue) else {
            throw .cannotListen(listener, "\(which) is no stream socket; hand it over by ListenStream=")
        }
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw .cannotListen(listener, "\(which) does not listen; its unit needs Accept=no and ListenStream=")
        }
        guard let place = ListeningPlace(of: descriptor) else {
            throw .cannotListen(listener, "\(which) is neither of the Internet nor of the file system")
        }
        if listener.services == .lines, case .internet = place {
            throw .cannotListen(listener, "\(which) is of the Internet, lines need a Unix socket; ListenStream=/PATH")
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
            return "no socket was handed over; start it through its socket unit, or choose an address"
        }
        let names = Set(inherited.map(\.name)).sorted().joined(separator: ", ")
        guard let name else { return "every socket that was handed over (\(names)) has a listener of its own" }
        return "no socket of the name \"\(name)\" was handed over, but \(names); name it by FileDescriptorName="
    }
}
