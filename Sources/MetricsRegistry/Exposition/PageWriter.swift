// SPDX-License-Identifier: Apache-2.0

/// Writes a page over the bytes of an earlier one, growing the array only where the page is longer.
struct PageWriter: ~Copyable {
    private var bytes: [UInt8]
    private(set) var count = 0

    init(reusing bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// The page, without what is left of the earlier one.
    consuming func finish() -> [UInt8] {
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    mutating func write(_ source: [UInt8]) {
        withRoom(source.count) { cursor in
            unsafe source.withUnsafeBytes { unsafe cursor.write($0) }
        }
    }

    /// Leaves `count` bytes for what `patch` writes into them.
    mutating func skip(_ count: Int) {
        withRoom(count) { $0.skip(count) }
    }

    /// Takes back all from `place` on.
    mutating func takeBack(from place: Int) {
        count = min(max(place, 0), count)
    }

    /// Lets `body` change what was written from `start` on, with `room` bytes more.
    mutating func patch(from start: Int, room: Int, _ body: (inout ByteCursor) -> Void) {
        let written = count - start
        count = start
        withRoom(written + room) { cursor in
            cursor.skip(written)
            body(&cursor)
        }
    }

    /// Lets `body` write up to `room` bytes.
    @inline(__always)
    mutating func withRoom(_ room: Int, _ body: (inout ByteCursor) -> Void) {
        let missing = count + room - bytes.count
        if missing > 0 {
            bytes.append(contentsOf: repeatElement(0, count: missing))
        }
        let start = count
        count += unsafe bytes.withUnsafeMutableBytes { all in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(rebasing: all[start..<start + room]))
            body(&cursor)
            return cursor.written
        }
    }
}
