// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

extension JSONWriter {
    /// The violations as elements of an array: `{"violation":"...","bucket":"A","detail":"..."}`.
    package mutating func elements(_ violations: [RefreshViolation]) {
        for violation in violations {
            object { json in
                json.name("violation")
                json.value("\(violation.kind.name)")
                json.name("bucket")
                json.value(violation.kind.bucket.rawValue)
                json.name("detail")
                json.value(violation.detail)
            }
        }
    }
}
