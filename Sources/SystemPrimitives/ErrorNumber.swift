// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An `errno` value and the system's text for it.
package struct ErrorNumber: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value, as in errno(3).
    package let code: Int32

    package init(_ code: Int32) {
        self.code = code
    }

    /// The system's text, such as `No space left on device`; nil for a value that the system does not know.
    package var text: String? {
        var text = [CChar](repeating: 0, count: 128)
        let isKnown = unsafe text.withUnsafeMutableBufferPointer { buffer -> Bool in
            guard let base = buffer.baseAddress else { return false }
            return unsafe strerror_r(code, base, buffer.count) == 0
        }
        guard isKnown else { return nil }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with the value in parentheses.
    package var description: String {
        text.map { "\($0) (\(code))" } ?? "error \(code)"
    }
}
