// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle

extension JSONText {
    /// The objects of broken rules, as elements of an array: `{"violation":"...","bucket":"A","detail":"..."}` (SPEC 10).
    mutating func elements(_ violations: [CycleViolation]) {
        for violation in violations {
            object { text in
                text.name("violation")
                text.value("\(violation.kind.name)")
                text.name("bucket")
                text.value(violation.kind.bucket.rawValue)
                text.name("detail")
                text.value(violation.detail)
            }
        }
    }
}
