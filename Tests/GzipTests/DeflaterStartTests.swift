// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Gzip

@Suite("A deflater that zlib does not start")
struct DeflaterStartTests {
    // The memory of the stream was freed twice here, on which glibc ends the process.
    @Test("a deflater with a level that zlib refuses is nil and frees its stream once")
    func refusedDeflaterLevel() {
        for _ in 0..<1_000 {
            #expect(PageDeflater(level: 42) == nil)
        }
        #expect(PageDeflater(level: 9) != nil)
    }
}
