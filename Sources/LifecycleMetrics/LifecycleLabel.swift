// SPDX-License-Identifier: Apache-2.0

package import PrefetchLifecycle

/// A label that the families of the lifecycle may have besides their own (SPEC 6).
package enum LifecycleLabel: String, CaseIterable, Sendable {
    /// The platform of the app: `ios`, `android`, `other` or `unknown`.
    case platform
    /// The version of the app: the first 30 that are told, `other` or `unknown`.
    case appVersion = "app_version"

    /// Each of some labels once, in their own order.
    package static func each(of labels: [LifecycleLabel]) -> [LifecycleLabel] {
        allCases.filter(labels.contains)
    }

    /// What a group has for it.
    package func value(of group: LifecycleGroup) -> String {
        switch self {
        case .platform: group.platform
        case .appVersion: group.appVersion
        }
    }
}
