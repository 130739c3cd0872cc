// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Where a page is cut into pieces that are deflated on their own.
///
/// The places follow from the bytes nearby: at the head of a family where there is one, else behind a line. So a change
/// of one family leaves the pieces of the others as they are. A page of another language is cut at the same bytes, which
/// mean nothing there.
enum PageCut {
    /// Smaller pieces would deflate worse.
    static let least = 16 << 10
    /// Larger ones would be deflated anew for small changes.
    static let most = 64 << 10

    /// The end of the piece that begins at `start`, behind it.
    static func end(from start: Int, in page: Span<UInt8>) -> Int {
        guard page.count - start > least else { return page.count }
        let last = min(start + most, page.count)
        return unsafe page.withUnsafeBytes { page in
            var behindLine = last
            var next = start + least
            while let line = unsafe endOfLine(page, from: next, to: last) {
                if unsafe line < page.count && page[line] == UInt8(ascii: "#") { return line }
                behindLine = line
                next = line
            }
            return last < page.count ? behindLine : last
        }
    }

    /// Behind the first newline of a range.
    private static func endOfLine(_ page: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = page.baseAddress,
            let newline = unsafe memchr(base + start, 0x0A, end - start)
        else { return nil }
        return unsafe UnsafeRawPointer(newline) - base + 1
    }
}
