// SPDX-License-Identifier: Apache-2.0

/// Why an inherited listener cannot be had.
public enum InheritedDescriptorsError: Error, Hashable, Sendable {
    /// The environment tells of descriptors that aren't there, or its numbers make no sense.
    case unusable(SystemError)
    /// Nothing was handed over under the name, or nothing at all; `names` are those that were.
    case notHandedOver(name: String?, names: [String])
    /// It was handed over and takes no connections.
    case noListener(InheritedDescriptor)
}

extension InheritedDescriptorsError: CustomStringConvertible {
    /// What was expected, what was found and what to do.
    public var description: String {
        switch self {
        case .unusable(let error):
            "the descriptors that LISTEN_FDS tells of are unusable: \(error); start the service by its socket unit"
        case .notHandedOver(let name, let names):
            "expected a socket\(name.map { " named \"\($0)\"" } ?? "") from the service manager, found "
                + (names.isEmpty ? "none" : "only " + names.map { "\"\($0)\"" }.joined(separator: ", "))
                + "; start the socket unit, and name it with FileDescriptorName="
        case .noListener(let descriptor):
            "expected a listening stream socket, but \(descriptor); use ListenStream= and Accept=no in the socket unit"
        }
    }
}
