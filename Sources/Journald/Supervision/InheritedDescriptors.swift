// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

/// The descriptors that the service manager handed over when it started the process (sd_listen_fds_with_names(3)).
///
/// A socket unit binds before the service runs and keeps the socket while it restarts, so that no connection is refused.
public struct InheritedDescriptors: Sendable {
    /// All of them, in the order of their numbers.
    public let all: [InheritedDescriptor]

    init(_ all: [InheritedDescriptor]) {
        self.all = all
    }

    /// Takes what was handed over: sets close-on-exec and removes `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the
    /// environment, so that no child process takes them for its own.
    ///
    /// Call it once, early: it changes the environment, which no other thread may read meanwhile, and the next call finds
    /// nothing. Nothing handed over, or handed over to another process, is no error.
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

    /// The names, each once, in the order of their first descriptor.
    public var names: [String] {
        var seen: Set<String> = []
        return all.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The listeners of a name; a socket unit with several `ListenStream=` hands over several.
    public func listeners(named name: String) throws(InheritedDescriptorsError) -> [InheritedDescriptor] {
        try listeners(all.filter { $0.name == name }, sought: name)
    }

    /// The listeners of all names but the given ones.
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
