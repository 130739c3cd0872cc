// SPDX-License-Identifier: Apache-2.0

/// A descriptor that the service manager handed over: open, closed on exec, and the caller's to close.
public struct InheritedDescriptor: Hashable, Sendable {
    /// What a descriptor refers to.
    public enum Kind: Hashable, Sendable {
        /// A stream socket that takes connections.
        case listener(SocketFamily)
        /// A stream socket that takes none: a connection, or one that nobody called listen(2) on.
        case stream
        /// A socket of another type, such as a datagram socket.
        case otherSocket
        /// No socket: a FIFO, a device, a file.
        case noSocket
    }

    /// The families of addresses that a listener may have.
    public enum SocketFamily: Hashable, Sendable {
        /// AF_INET.
        case ipv4
        /// AF_INET6, which takes IPv4 connections too unless told otherwise.
        case ipv6
        /// AF_UNIX.
        case unix
        /// Another one, such as AF_VSOCK.
        case other
    }

    /// The descriptor's number.
    public let number: Int32
    /// Its name (`FileDescriptorName=`, systemd.socket(5)); without one a socket unit gives its own name, and others give
    /// `unknown`.
    public let name: String
    /// What it refers to.
    public let kind: Kind

    init(number: Int32, name: String, kind: Kind) {
        self.number = number
        self.name = name
        self.kind = kind
    }

    /// Whether it is a stream socket that takes connections.
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
