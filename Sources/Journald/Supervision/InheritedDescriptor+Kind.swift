// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

extension InheritedDescriptor.Kind {
    /// What an open descriptor refers to, as sd_is_socket(3) tells it.
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
