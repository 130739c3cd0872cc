// SPDX-License-Identifier: Apache-2.0

/// An input of libFuzzer as an array: the one place that touches its pointer.
enum FuzzInput {
    static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }
}

/// Ends the run with a finding; libFuzzer then keeps the input.
func finding(_ what: String, _ details: [UInt8]...) -> Never {
    fatalError(details.reduce("finding: \(what)") { "\($0)\n    \(String(decoding: $1, as: UTF8.self))" })
}
