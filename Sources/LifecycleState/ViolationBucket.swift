// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

/// Who is responsible for a violation, in the behaviour classification of the plugin's documentation.
public enum ViolationBucket: String, CaseIterable, Sendable {
    /// Deterministic: a bug of the plugin.
    case a = "A"
    /// A fault of the app's or the plugin's logic.
    case b = "B"
    /// The operating system's timing: a note, not a bug.
    case c = "C"
}

extension JSONWriter {
    /// A violation as an object: `{"violation":"...","bucket":"A","detail":"..."}`.
    ///
    /// - Parameter place: writes the members that tell where it is shown.
    package mutating func violation(
        _ name: StaticString,
        _ bucket: ViolationBucket,
        _ detail: String,
        at place: (inout JSONWriter) -> Void = { _ in }
    ) {
        object { json in
            json.name("violation")
            json.value("\(name)")
            json.name("bucket")
            json.value(bucket.rawValue)
            json.name("detail")
            json.value(detail)
            place(&json)
        }
    }
}
