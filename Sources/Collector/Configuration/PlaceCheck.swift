// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// What is wrong with the paths of a configuration as this machine is now, found without changing anything.
///
/// What another user, or a unit, may have or make when the service starts is a warning.
struct PlaceCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []
    private let reading: SettingsReading

    init(_ reading: SettingsReading) {
        self.reading = reading
        checkStateDirectory(reading.configuration.stateDirectory)
        for (index, listener) in reading.configuration.listeners.enumerated() {
            if case .unix(let path, _, let group) = listener.endpoint { checkSocket(path, group, index) }
        }
        for (index, path) in reading.configuration.followedFiles.enumerated() { checkFollowed(path, index) }
    }

    private mutating func checkStateDirectory(_ path: String) {
        guard !path.isEmpty else { return }
        let origin = reading.origin(of: "state-dir")
        var nearest = path
        while Self.kind(of: nearest) == nil, nearest.count > 1 { nearest = Self.directory(of: nearest) }
        if Self.kind(of: nearest) != S_IFDIR {
            problems.append(ConfigurationProblem(origin, "expected a directory at \(nearest), found something else"))
        } else if unsafe access(nearest, W_OK | X_OK) != 0 {
            warnings.append(
                ConfigurationProblem(origin, "this user may not write to \(nearest); the service's user has to")
            )
        }
    }

    private mutating func checkSocket(_ path: String, _ group: String?, _ index: Int) {
        let origin = reading.origin(of: "listen", index)
        switch Self.kind(of: Self.directory(of: path)) {
        case S_IFDIR: break
        case nil:
            warnings.append(
                ConfigurationProblem(
                    origin,
                    "\(Self.directory(of: path)) is not there; it has to be made before the service starts"
                )
            )
        default:
            problems.append(
                ConfigurationProblem(origin, "expected a directory at \(Self.directory(of: path)), found a file")
            )
        }
        if let kind = Self.kind(of: path), kind != S_IFSOCK {
            problems.append(
                ConfigurationProblem(origin, "expected a socket or nothing at \(path), found something else")
            )
        }
        if let group, gid_t(group) == nil, unsafe getgrnam(group) == nil {
            problems.append(ConfigurationProblem(origin, "there is no group \"\(group.prefix(80))\""))
        }
    }

    private mutating func checkFollowed(_ path: String, _ index: Int) {
        let origin = reading.origin(of: "follow", index)
        switch Self.kind(of: path) {
        case S_IFREG:
            if unsafe access(path, R_OK) != 0 {
                warnings.append(
                    ConfigurationProblem(origin, "this user may not read \(path); the service's user has to")
                )
            }
        case nil:
            if Self.kind(of: Self.directory(of: path)) != S_IFDIR {
                warnings.append(ConfigurationProblem(origin, "\(Self.directory(of: path)) is no directory yet"))
            }
        default:
            warnings.append(
                ConfigurationProblem(origin, "\(path) is no regular file, and is not followed while it is none")
            )
        }
    }

    /// The kind of what stands at a path, through links; nil where nothing does.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
