// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// The descriptors that the service manager passed to the process (socket activation, sd_listen_fds_with_names(3)).
///
/// A socket unit binds before the service runs and keeps the socket over restarts, so that no connection is refused.
public struct InheritedDescriptors: Sendable {
    /// All descriptors, in the order of their numbers.
    public let all: [InheritedDescriptor]

    init(_ all: [InheritedDescriptor]) {
        self.all = all
    }

    /// Takes the passed descriptors: sets close-on-exec and removes `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from
    /// the environment, so that no child process takes them for its own.
    ///
    /// Call it once, early: it changes the environment, which no other thread may read meanwhile, and a second call finds
    /// none. It is no error when none were passed, or when they were passed to another process.
    public static func take() throws(InheritedDescriptorsError) -> InheritedDescriptors {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &list)
        guard count >= 0 else { throw .unusable(SystemError(code: count)) }
        defer {
            for index in 0..<Int(count) { unsafe free(list?[index]) }
            unsafe free(list)
        }
        return InheritedDescriptors(
            (0..<count).map { index in
                let number = SD_LISTEN_FDS_START + index
                let name = unsafe list?[Int(index)].map { unsafe String(cString: $0) }
                return InheritedDescriptor(number: number, name: name ?? "unknown", kind: .init(of: number))
            }
        )
    }

    /// The distinct names, in the order of their first descriptor.
    public var names: [String] {
        var seen: Set<String> = []
        return all.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The listeners of a name; a socket unit with several `ListenStream=` passes several.
    public func listeners(named name: String) throws(InheritedDescriptorsError) -> [InheritedDescriptor] {
        try listeners(all.filter { $0.name == name }, sought: name)
    }

    /// The listeners of all names except the given ones.
    public func listeners(
        exceptNamed names: Set<String> = []
    ) throws(InheritedDescriptorsError) -> [InheritedDescriptor] {
        try listeners(all.filter { !names.contains($0.name) }, sought: nil)
    }

    private func listeners(
        _ found: [InheritedDescriptor],
        sought name: String?
    ) throws(InheritedDescriptorsError) -> [InheritedDescriptor] {
        guard !found.isEmpty else { throw .notHandedOver(name: name, names: names) }
        if let other = found.first(where: { !$0.isListener }) { throw .noListener(other) }
        return found
    }
}

/// A descriptor that the service manager passed: open, close-on-exec, and owned by the caller.
public struct InheritedDescriptor: Hashable, Sendable {
    /// What a descriptor refers to.
    public enum Kind: Hashable, Sendable {
        /// A listening stream socket.
        case listener(SocketFamily)
        /// A stream socket that does not listen.
        case stream
        /// A socket of another type, such as a datagram socket.
        case otherSocket
        /// No socket: a FIFO, a device, a file.
        case noSocket
    }

    /// The address family of a listener.
    public enum SocketFamily: Hashable, Sendable {
        /// AF_INET.
        case ipv4
        /// AF_INET6, which accepts IPv4 connections too unless `IPV6_V6ONLY` is set.
        case ipv6
        /// AF_UNIX.
        case unix
        /// Another family, such as AF_VSOCK.
        case other
    }

    /// The descriptor's number.
    public let number: Int32
    /// Its name (`FileDescriptorName=`, systemd.socket(5)); by default the socket unit's name, or `unknown`.
    public let name: String
    /// What it refers to.
    public let kind: Kind

    init(number: Int32, name: String, kind: Kind) {
        self.number = number
        self.name = name
        self.kind = kind
    }

    /// Whether it is a listening stream socket.
    public var isListener: Bool {
        if case .listener = kind { true } else { false }
    }
}

extension InheritedDescriptor: CustomStringConvertible {
    /// The number, the name and what it is.
    public var description: String {
        let what =
            switch kind {
            case .listener: "a listening stream socket"
            case .stream: "a stream socket that does not listen"
            case .otherSocket: "a socket that is no stream"
            case .noSocket: "no socket"
            }
        return "descriptor \(number) (\"\(name)\") is \(what)"
    }
}

extension InheritedDescriptor.Kind {
    /// What an open descriptor refers to, by sd_is_socket(3).
    init(of descriptor: Int32) {
        let stream = Int32(SOCK_STREAM.rawValue)
        guard sd_is_socket(descriptor, AF_UNSPEC, 0, -1) > 0 else {
            self = .noSocket
            return
        }
        guard sd_is_socket(descriptor, AF_UNSPEC, stream, -1) > 0 else {
            self = .otherSocket
            return
        }
        guard sd_is_socket(descriptor, AF_UNSPEC, stream, 1) > 0 else {
            self = .stream
            return
        }
        let families: [(Int32, InheritedDescriptor.SocketFamily)] = [
            (AF_INET, .ipv4), (AF_INET6, .ipv6), (AF_UNIX, .unix),
        ]
        let found = families.first { sd_is_socket(descriptor, $0.0, stream, 1) > 0 }
        self = .listener(found?.1 ?? .other)
    }
}

/// Why an inherited listener is not available.
public enum InheritedDescriptorsError: Error, Hashable, Sendable {
    /// The environment names descriptors that are not open, or has invalid numbers.
    case unusable(SystemError)
    /// No descriptor was passed under the name, or none at all; `names` are those that were.
    case notHandedOver(name: String?, names: [String])
    /// The passed descriptor does not listen.
    case noListener(InheritedDescriptor)
}

extension InheritedDescriptorsError: CustomStringConvertible {
    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .unusable(let error):
            "the descriptors of LISTEN_FDS are unusable: \(error); start the service by its socket unit"
        case .notHandedOver(let name, let names):
            "expected a socket\(name.map { " named \"\($0)\"" } ?? "") from the service manager, found "
                + (names.isEmpty ? "none" : "only " + names.map { "\"\($0)\"" }.joined(separator: ", "))
                + "; start the socket unit, and name it with FileDescriptorName="
        case .noListener(let descriptor):
            "expected a listening stream socket, but \(descriptor); use ListenStream= and Accept=no in the socket unit"
        }
    }
}
