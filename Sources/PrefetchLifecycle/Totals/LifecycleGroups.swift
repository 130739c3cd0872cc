// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The totals of one platform and app version, for the optional labels (docs/metrics.md).
public struct LifecycleGroup: Sendable {
    /// `ios`, `android`, `other`, or `unknown` where the event names none.
    public let platform: String
    /// The version as sent, `other` past the limit of versions, or `unknown` where the event names none.
    public let appVersion: String
    /// The totals of its events.
    public internal(set) var totals = LifecycleTotals()
    /// Whether its alarms are exact: those of Android.
    let isExact: Bool
    /// Increases whenever the totals may have changed, so that a reader can skip unchanged groups.
    public internal(set) var revision: UInt64 = 0

    init(platform: String, appVersion: String) {
        self.platform = platform
        self.appVersion = appVersion
        isExact = platform == "android"
    }

    /// The empty group of events that name neither platform nor version, which is the first one of a fold.
    public static let unknown = LifecycleGroup(platform: "unknown", appVersion: "unknown")
}

/// The groups seen so far; the first holds events that name neither platform nor version.
///
/// Platforms are a closed set of four, and only the first 30 versions get groups of their own, so there are at most 128.
struct LifecycleGroups: Sendable {
    static let versionLimit = 30
    private static let unknown = "unknown"
    private static let other = "other"

    private(set) var groups = [LifecycleGroup.unknown]
    private var versions: [String] = []
    // The names and the group of the latest lookup, because events of an app arrive together.
    private var latestPlatform: [UInt8] = []
    private var latestVersion: [UInt8] = []
    private var latestPlace = 0

    var count: Int { groups.count }

    /// How far a delivery of a group may be from its time, in microseconds.
    func toleratedDrift(of place: Int) -> Int64 {
        groups[place].isExact ? LifecycleRules.exactDriftMicroseconds : LifecycleRules.toleratedDriftMicroseconds
    }

    subscript(place: Int) -> LifecycleTotals {
        _read { yield groups[place].totals }
        _modify {
            groups[place].revision &+= 1
            yield &groups[place].totals
        }
    }

    /// The sum over all groups.
    var sum: LifecycleTotals {
        var sum = groups[0].totals
        for group in groups.dropFirst() { sum.add(group.totals) }
        return sum
    }

    /// The group of an event; nil for an event that names neither platform nor version.
    mutating func place(of event: borrowing Event, in bytes: Span<UInt8>) -> Int? {
        let platform = event.platform
        let version = event.appVersion
        if platform.isEmpty, version.isEmpty { return nil }
        if Self.equal(latestPlatform, bytes, platform), Self.equal(latestVersion, bytes, version) { return latestPlace }
        latestPlatform = Self.text(bytes, platform)
        latestVersion = Self.text(bytes, version)
        latestPlace = place(
            platform: Self.platform(latestPlatform),
            appVersion: self.version(latestVersion)
        )
        return latestPlace
    }

    /// The group with these names; adds a new one.
    mutating func place(platform: String, appVersion: String) -> Int {
        if let place = groups.firstIndex(where: { $0.platform == platform && $0.appVersion == appVersion }) {
            return place
        }
        groups.append(LifecycleGroup(platform: platform, appVersion: appVersion))
        return groups.count - 1
    }

    /// How far a delivery on a platform may be from its time, in microseconds.
    static func toleratedDrift(of platform: Event.Text, in bytes: Span<UInt8>) -> Int64 {
        let isExact = !platform.isEmpty && Self.platform(text(bytes, platform)) == "android"
        return isExact ? LifecycleRules.exactDriftMicroseconds : LifecycleRules.toleratedDriftMicroseconds
    }

    private static func platform(_ bytes: [UInt8]) -> String {
        switch String(decoding: bytes, as: UTF8.self).lowercased() {
        case "": unknown
        case "ios", "ipados", "iphone os": "ios"
        case "android": "android"
        default: other
        }
    }

    private mutating func version(_ bytes: [UInt8]) -> String {
        if bytes.isEmpty { return Self.unknown }
        let version = String(decoding: bytes, as: UTF8.self)
        if versions.contains(version) { return version }
        guard versions.count < Self.versionLimit else { return Self.other }
        versions.append(version)
        return version
    }

    private static func text(_ bytes: Span<UInt8>, _ range: Event.Text) -> [UInt8] { range.map { bytes[$0] } }

    private static func equal(_ text: [UInt8], _ bytes: Span<UInt8>, _ range: Event.Text) -> Bool {
        guard text.count == range.count else { return false }
        for index in text.indices where text[index] != bytes[range.lowerBound + index] { return false }
        return true
    }
}

extension LifecycleGroups {
    /// - Parameter version: the version of the checkpoint's layout.
    func append(to writer: inout StateWriter, version: UInt8 = LifecycleFold.stateVersion) {
        writer.append(UInt8(versions.count))
        for version in versions { writer.append(text: version) }
        writer.append(UInt16(groups.count))
        for group in groups {
            writer.append(text: group.platform)
            writer.append(text: group.appVersion)
            group.totals.append(to: &writer, version: version)
        }
    }

    /// - Parameter version: the version of the checkpoint's layout.
    mutating func restore(_ reader: inout StateReader, version: UInt8) throws(StateError) {
        let versionCount: UInt8 = try reader.integer()
        versions = []
        for _ in 0..<versionCount { versions.append(try reader.text()) }
        let groupCount: UInt16 = try reader.integer()
        groups = []
        for _ in 0..<groupCount {
            let platform = try reader.text()
            var group = LifecycleGroup(platform: platform, appVersion: try reader.text())
            try group.totals.restore(&reader, version: version)
            groups.append(group)
        }
        if groups.isEmpty { groups = LifecycleGroups().groups }
    }
}

extension StateWriter {
    fileprivate mutating func append(text: String) {
        append(UInt8(clamping: text.utf8.count))
        for byte in text.utf8.prefix(255) { append(byte) }
    }
}

extension StateReader {
    fileprivate mutating func text() throws(StateError) -> String {
        let count: UInt8 = try integer()
        var bytes: [UInt8] = []
        for _ in 0..<count { bytes.append(try integer()) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
