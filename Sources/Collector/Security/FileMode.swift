// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// What the modes of a file and of its directory tell (inode(7)).
enum FileMode {
    /// Whether others than owner and group may read a file and reach it in its directory.
    static func letsEverybodyRead(_ path: String) -> Bool {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        return has(S_IROTH, path) && has(S_IXOTH, directory)
    }

    private static func has(_ right: mode_t, _ path: String) -> Bool {
        var status = Glibc.stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & right != 0
    }
}
