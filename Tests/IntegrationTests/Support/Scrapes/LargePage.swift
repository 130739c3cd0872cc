// SPDX-License-Identifier: Apache-2.0

/// A service whose page is larger than what the system keeps of an answer that nobody reads.
enum LargePage {
    /// Without these all apps would share their series.
    static let options = ["--label", "platform", "--label", "app_version"]

    /// One event of each of 120 apps.
    static var events: [UInt8] {
        var lines = ""
        for version in 0..<30 {
            for platform in ["ios", "android", "", "harmony"] {
                lines += """
                    {"event":"prefetch_scheduled","scheduleId":"\(platform)-\(version)","platform":"\(platform)",\
                    "timestamp":"\(EventFactory.stamp(version))","appVersion":"1.\(version)"}

                    """
            }
        }
        return Array(lines.utf8)
    }
}
