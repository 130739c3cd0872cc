// SPDX-License-Identifier: Apache-2.0

/// A part of the plugin: what stands in `[DNP-...]`, in a logcat tag or in an Apple logging category.
public enum LogComponent: UInt8, CaseIterable, Sendable {
    /// `[DNP-FETCH]`
    case fetch
    /// `[DNP-SCHEDULER]`
    case scheduler
    /// `[DNP-PLUGIN]`
    case plugin
    /// `[DNP-STORAGE]`
    case storage
}
