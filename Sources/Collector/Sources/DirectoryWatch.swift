// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Watches the directories of files with inotify(7), and polls the files as well.
///
/// Where notifications are not available (network file systems, too many watches), files are polled more often.
@safe final class DirectoryWatch: @unchecked Sendable {
    private static let events =
        UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE)
        | UInt32(IN_ATTRIB) | UInt32(IN_CLOSE_WRITE)
    private static let pollMilliseconds: Int32 = 500
    private static let pollMillisecondsWithoutEvents: Int32 = 200
    /// Events within this time are handled as one.
    private static let debounceMicroseconds: UInt32 = 10_000

    private let paths: [String]
    private let wake: @Sendable (Int) -> Void
    private let descriptor: Int32
    /// A pipe whose readable end ends the wait.
    private let stopPipe: (read: Int32, write: Int32)
    /// The paths of each watch; only the thread of `run()` accesses it.
    private var watchers: [Int32: Set<Int>] = [:]

    /// - Parameters:
    ///   - paths: The files.
    ///   - wake: Called with the index of a path.
    init(_ paths: [String], wake: @escaping @Sendable (Int) -> Void) {
        self.paths = paths
        self.wake = wake
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        stopPipe = (ends[0], ends[1])
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        close(stopPipe.read)
        close(stopPipe.write)
    }

    /// Ends `run()`.
    func stop() {
        _ = unsafe write(stopPipe.write, [1], 1)
    }

    /// Watches on this thread until stopped.
    func run() {
        while true {
            let isWatching = watchAll()
            for index in paths.indices { wake(index) }
            guard wait(isWatching ? Self.pollMilliseconds : Self.pollMillisecondsWithoutEvents) else { return }
        }
    }

    /// Dispatches events for the interval; false when stopped.
    private func wait(_ interval: Int32) -> Bool {
        let end = milliseconds() + Int64(interval)
        while true {
            let left = end - milliseconds()
            guard left > 0 else { return true }
            var inputs = [
                pollfd(fd: stopPipe.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&inputs, nfds_t(inputs.count), Int32(left))
            if inputs[0].revents != 0 { return false }
            guard inputs[1].revents != 0 else { continue }
            usleep(Self.debounceMicroseconds)
            for index in takeEvents() { wake(index) }
        }
    }

    /// Adds a watch for each directory; false when one of them cannot be watched.
    private func watchAll() -> Bool {
        guard descriptor >= 0 else { return false }
        var isComplete = true
        watchers = [:]
        for (index, path) in paths.enumerated() {
            for directory in FileAccess.directories(of: path) {
                let watch = unsafe inotify_add_watch(descriptor, directory, Self.events)
                if watch >= 0 { watchers[watch, default: []].insert(index) } else { isComplete = false }
            }
        }
        return isComplete
    }

    /// Reads the pending events and returns the indices of the affected paths.
    private func takeEvents() -> Set<Int> {
        var indices: Set<Int> = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let header = MemoryLayout<inotify_event>.size
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return indices }
            var start = 0
            while start + header <= count {
                let event = unsafe buffer.withUnsafeBytes {
                    unsafe $0.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                }
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return Set(paths.indices) }
                indices.formUnion(watchers[event.wd] ?? [])
                start += header + Int(event.len)
            }
        }
    }

    private func milliseconds() -> Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000) }
}
