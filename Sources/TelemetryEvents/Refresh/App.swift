// SPDX-License-Identifier: Apache-2.0

/// An app whose events the collector takes. Each has a vocabulary, a fold and metrics of its own.
public enum App: UInt8, CaseIterable, Sendable {
    /// The daily notification plugin, with its prefetch.
    case dnp = 0
    /// The app with the background refresh `com.aiq.refresh`.
    case aiq = 1

    /// The name in settings and options.
    public var name: StaticString {
        switch self {
        case .dnp: "dnp"
        case .aiq: "aiq"
        }
    }
}

extension EventKind {
    /// The app whose vocabulary has the kind.
    @inlinable
    public var app: App { rawValue >= EventKind.refreshStarted.rawValue ? .aiq : .dnp }

    /// The app whose task the system has started, where that is what it tells.
    var begunRun: App? { self == .prefetchExecuted || self == .refreshStarted ? app : nil }
}
