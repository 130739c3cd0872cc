// SPDX-License-Identifier: Apache-2.0

/// Where libFuzzer hands over an input; `Target` is named at the build (Tests/Fuzzing/run).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.check(unsafe [UInt8](UnsafeBufferPointer(start: start, count: count)))
    return 0
}
