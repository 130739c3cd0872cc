// SPDX-License-Identifier: Apache-2.0

import CBuild
import RuntimeMetrics
import TextOutput

/// What `--version` says of this build.
enum BuildInformation {
    /// The version, and in brackets the commit, the Swift compiler and the platform.
    static var description: String {
        let commit = unsafe String(cString: build_commit())
        let source = commit.isEmpty ? "commit unknown" : "commit \(commit)"
        return "\(BuildVersion.current) (\(source), Swift \(SwiftVersion.compiler), \(platform))"
    }

    private static var platform: String {
        #if os(Linux)
            let system = "linux"
        #elseif os(macOS)
            let system = "macos"
        #else
            let system = "other"
        #endif
        #if arch(x86_64)
            return "\(system)/x86_64"
        #elseif arch(arm64)
            return "\(system)/arm64"
        #else
            return "\(system)/other"
        #endif
    }
}
