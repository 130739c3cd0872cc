// SPDX-License-Identifier: Apache-2.0

/// The version of this build.
public enum BuildVersion {
    /// As in `dnp_telemetry_build_info` and `--version`.
    public static let current = "0.1.0"
}
