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
            guard unsafe mkdir(parent, 0o700) != 0 else { continue }
            let code = errno
            guard code != EEXIST || !isDirectory(parent) else { continue }
            let reason =
                switch code {
                case EEXIST: "\(parent) is a file"
                case EACCES, EPERM: "permission is denied"
                default: unsafe String(cString: strerror(code))
                }
            throw CollectorError(
                "cannot create the state directory \(path): \(reason); choose another one with --state-dir"
            )
        }
    }

    /// Whether a directory is at the path, or behind a link at it; also one that may not be entered.
    private static func isDirectory(_ path: String) -> Bool {
        unsafe access(path + "/.", F_OK) == 0 || errno == EACCES
    }
}
