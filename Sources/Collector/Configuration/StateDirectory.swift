// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The state directory: its default place and its creation.
package enum StateDirectory {
    /// `$STATE_DIRECTORY` (systemd.exec(5); the first of several), else `$XDG_STATE_HOME/dnp-telemetry` (XDG Base
    /// Directory Specification), else `~/.local/state/dnp-telemetry`; nil when the environment names none of these.
    package static func `default`(environment: [String: String]) -> String? {
        if let systemd = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(systemd) }
        if let xdg = environment["XDG_STATE_HOME"], xdg.hasPrefix("/") { return xdg + "/dnp-telemetry" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state/dnp-telemetry" }
        return nil
    }
}

extension StateDirectory {
    /// Creates the directory and its missing parents, with mode 0700.
    static func create(_ path: String) throws(CollectorError) {
        var parent = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            parent += "/" + part
            if unsafe mkdir(parent, 0o700) != 0, errno != EEXIST {
                throw CollectorError(
                    "cannot create the state directory \(path): \(unsafe String(cString: strerror(errno))); "
                        + "choose another one with --state-dir"
                )
            }
        }
    }
}
