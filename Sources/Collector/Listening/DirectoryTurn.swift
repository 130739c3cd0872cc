// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The turn to look at a path and to listen there, of one process at a time: flock(2) on the directory, which leaves no file
/// behind. Whoever keeps the lock for long is not waited for.
struct DirectoryTurn: ~Copyable {
    private static let tries = 100
    private static let pause: UInt32 = 20_000

    private let descriptor: Int32

    /// Waits for the turn, for two seconds at most.
    init(of path: String) {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        descriptor = unsafe open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        for _ in 0..<Self.tries where flock(descriptor, LOCK_EX | LOCK_NB) != 0 { usleep(Self.pause) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
