// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("identity key")
struct IdentityKeyTests {
    @Test("an identity key is neither in its description nor in a dump of what holds it")
    func identityKeyIsRedacted() {
        struct Holder { let key = IdentityKey(0x1234_5678_9ABC, 0xFEDC_BA98) }
        var dumped = ""
        dump(Holder(), to: &dumped)
        for text in ["\(IdentityKey(0x1234_5678_9ABC, 0xFEDC_BA98))", "\(Holder())", dumped] {
            #expect(!text.contains("\(0x1234_5678_9ABC)"))
            #expect(!text.contains("\(0xFEDC_BA98)"))
        }
    }
}
