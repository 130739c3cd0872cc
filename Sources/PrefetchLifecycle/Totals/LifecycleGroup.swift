// SPDX-License-Identifier: Apache-2.0

/// What is counted of one platform and app version, for the optional labels (SPEC 6).
public struct LifecycleGroup: Sendable {
    /// `ios`, `android`, `other`, or `unknown` where none was told.
    public let platform: String
    /// The version as told, `other` past the limit of versions, or `unknown` where none was told.
    public let appVersion: String
    /// What is counted of it.
    public internal(set) var totals = LifecycleTotals()
    /// Rises whenever the totals may have changed, so that who has read them knows whether to read them again.
    public internal(set) var revision: UInt64 = 0

    /// The group of events that name neither platform nor version, with nothing counted: the first one of a fold.
    public static let unknown = LifecycleGroup(platform: "unknown", appVersion: "unknown")
}
