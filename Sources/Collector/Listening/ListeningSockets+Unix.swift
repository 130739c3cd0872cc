// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

extension ListeningSockets {
    /// Listens on a path. The file has its mode and its group before anyone can connect, since the socket listens last.
    ///
    /// - Parameters:
    ///   - mode: who may connect, as of chmod(2): those who may write; nil: what the process's mask leaves.
    ///   - group: a group's name or number; nil: the process's.
    static func open(
        _ listener: Listener,
        path: String,
        mode: UInt16?,
        group: String?
    ) throws(CollectorError) -> BoundListener {
        let address = try address(listener, path)
        let group: gid_t? = if let group { try groupID(listener, group) } else { nil }
        let turn = DirectoryTurn(of: path)
        defer { extendLifetime(turn) }
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

    /// Removes the socket of a process that has died. What lives, or is no socket, is left alone.
    private static func clearPath(
        _ listener: Listener,
        _ path: String,
        _ address: SocketAddress
    ) throws(CollectorError) {
        switch SocketFile.look(path) {
        case .absent:
            return
        case .other:
            throw .cannotListen(listener, "a file that is no socket stands there; remove it or choose another path")
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
                throw .cannotListen(listener, "a socket of another user stands there; remove it or choose another path")
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
