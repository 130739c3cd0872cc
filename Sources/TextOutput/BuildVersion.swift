// SPDX-License-Identifier: Apache-2.0

/// The version of this build.
package enum BuildVersion {
    /// As in `dnp_telemetry_build_info` and `--version`.
    package static let current = "0.1.0"
}
