// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A platform and an app version, whose events are counted together for the optional labels (docs/metrics.md).
public struct EventGroup: Hashable, Sendable {
    /// `ios`, `android`, `other`, or `unknown` where the event names none.
    public let platform: String
    /// The version as sent, `other` past the limit of versions, or `unknown` where the event names none.
    public let appVersion: String

    /// The group of events that name neither platform nor version, which is the first one of a fold.
    public static let unknown = EventGroup(platform: "unknown", appVersion: "unknown")

    /// Creates a group.
    package init(platform: String, appVersion: String) {
        self.platform = platform
        self.appVersion = appVersion
    }
}

/// The groups of events seen so far; the first holds events that name neither platform nor version.
///
/// Platforms are a closed set of four, and only the first 30 versions get groups of their own, so there are at most 128.
public struct EventGroups: Sendable {
    static let versionLimit = 30
    private static let other = "other"

    /// The groups, by their place.
    public private(set) var groups = [EventGroup.unknown]
    private var versions: [String] = []
    // The names and the group of the latest lookup, because events of an app arrive together.
    private var latestPlatform: [UInt8] = []
    private var latestVersion: [UInt8] = []
    private var latestPlace = 0

    /// The group of events that name nothing.
    public init() {}

    /// The place of an event's group, which may be a new one behind the others; nil for an event that names neither
    /// platform nor version.
    public mutating func place(of event: borrowing Event, in bytes: Span<UInt8>) -> Int? {
        let platform = event.platform
        let version = event.appVersion
        if platform.isEmpty, version.isEmpty { return nil }
        if Self.equal(latestPlatform, bytes, platform), Self.equal(latestVersion, bytes, version) { return latestPlace }
        latestPlatform = Self.text(bytes, platform)
        latestVersion = Self.text(bytes, version)
        latestPlace = place(platform: Self.platform(latestPlatform), self.version(latestVersion))
        return latestPlace
    }

    /// The place of a group of another list, or that of `other` versions past the limit of versions.
    package mutating func place(of group: EventGroup) -> Int {
        let version = group.appVersion
        let isNamed = version != EventGroup.unknown.appVersion && version != Self.other
        return place(platform: group.platform, isNamed ? limited(version) : version)
    }

    private mutating func place(platform: String, _ version: String) -> Int {
        let group = EventGroup(platform: platform, appVersion: version)
        if let place = groups.firstIndex(of: group) { return place }
        groups.append(group)
        return groups.count - 1
    }

    /// Whether a text names Android.
    public static func isAndroid(_ text: Event.Text, in bytes: Span<UInt8>) -> Bool {
        !text.isEmpty && platform(Self.text(bytes, text)) == "android"
    }

    private static func platform(_ bytes: [UInt8]) -> String {
        switch String(decoding: bytes, as: UTF8.self).lowercased() {
        case "": EventGroup.unknown.platform
        case "ios", "ipados", "iphone os": "ios"
        case "android": "android"
        default: other
        }
    }

    private mutating func version(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? EventGroup.unknown.appVersion : limited(String(decoding: bytes, as: UTF8.self))
    }

    private mutating func limited(_ version: String) -> String {
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

// MARK: Checkpoints

extension EventGroups {
    /// Appends the versions, and each group with what the closure appends of it.
    public func append(to writer: inout StateWriter, _ content: (_ place: Int, inout StateWriter) -> Void) {
        writer.append(UInt8(versions.count))
        for version in versions { writer.append(text: version) }
        writer.append(UInt16(groups.count))
        for (place, group) in groups.enumerated() {
            writer.append(text: group.platform)
            writer.append(text: group.appVersion)
            content(place, &writer)
        }
    }

    /// Restores what ``append(to:_:)`` wrote.
    ///
    /// - Parameter content: reads what belongs to the group of a place.
    public mutating func restore(
        _ reader: inout StateReader,
        _ content: (EventGroup, inout StateReader) throws(StateError) -> Void
    ) throws(StateError) {
        let versionCount: UInt8 = try reader.integer()
        versions = []
        for _ in 0..<versionCount { versions.append(try reader.text()) }
        let groupCount: UInt16 = try reader.integer()
        guard groupCount > 0 else { throw reader.error("no group") }
        groups = []
        for _ in 0..<groupCount {
            let platform = try reader.text()
            let group = EventGroup(platform: platform, appVersion: try reader.text())
            groups.append(group)
            try content(group, &reader)
        }
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
