// SPDX-License-Identifier: Apache-2.0

/// Takes device-log lines out of their wrappers.
///
/// It is total: every line is one of the plugin's or foreign, and no read passes the line's end.
struct LineUnwrapper: Sendable {
    private let wrapper: LogWrapper?
    private var stamps = LogStampReader()

    /// - Parameter wrapper: the one that all lines are in; nil: told apart line by line.
    init(wrapper: LogWrapper?) {
        self.wrapper = wrapper
    }

    /// Takes a line out of its wrapper.
    mutating func unwrap(_ bytes: Span<UInt8>, _ line: Range<Int>, scratch: inout [UInt8])
        -> UnwrappedLine
    {
        var unwrapped = UnwrappedLine()
        var cursor = LineCursor(line)
        unwrapped.stamp = stamps.dateAndTime(bytes, &cursor)
        unwrapped.takeAnywhere(bytes, cursor)
        return unwrapped
    }
}
