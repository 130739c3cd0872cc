// SPDX-License-Identifier: Apache-2.0

/// One way in which an event can be wrong.
struct BrokenEvent: Sendable {
    let name: String
    /// Any of these words, in any case, must stand in the reason.
    let mentions: [String]
    /// Whether the JSON around it can still be read when it stands in an array.
    var standsInArray = true
    /// Whether one is many times larger than a usual event.
    var isLarge = false
    let bytes: @Sendable (Int) -> [UInt8]

    /// A good event, but for what is put in place of its members.
    static func text(
        _ name: String,
        mentions: [String],
        inArray: Bool = true,
        large: Bool = false,
        _ text: @escaping @Sendable (Int) -> String
    ) -> BrokenEvent {
        BrokenEvent(name: name, mentions: mentions, standsInArray: inArray, isLarge: large) { Array(text($0).utf8) }
    }

    /// A good event with one more member, which is wrong.
    static func member(_ name: String, mentions: [String], _ member: String) -> BrokenEvent {
        .text(name, mentions: mentions) { "\(start($0)),\(member)}" }
    }

    /// A good event with this timestamp.
    static func timestamp(_ name: String, also: [String] = [], _ timestamp: @escaping @Sendable () -> String)
        -> BrokenEvent
    {
        .text(name, mentions: ["timestamp"] + also) {
            #"{"event":"prefetch_success","scheduleId":"broken-\#($0)","timestamp":\#(timestamp())}"#
        }
    }

    static func start(_ index: Int) -> String {
        #"{"event":"prefetch_success","scheduleId":"broken-\#(index)","timestamp":"2025-11-15T05:48:32Z""#
    }

    func isNamed(by reason: String) -> Bool {
        let reason = reason.lowercased()
        return mentions.contains { reason.contains($0.lowercased()) }
    }
}
