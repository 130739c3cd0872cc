// SPDX-License-Identifier: Apache-2.0

/// Two hundred texts and more that clients send in good faith; all of them stay readable.
package enum HonestCorpus {
    package static let identifiers = [
        "a", "n2", "e-1", "XYZ", "42", "notif-1", "notif-123", "notif_123", "notif.123", "notif-a",
        "notif-2025-11-15", "notif_2025_11_15", "notif-20251115", "notif-2025-11-15-morning", "notif-1763185712",
        "notif-1763185712000", "notif1763185712000", "1763185712000", "notification-42",
        "notification_2025-11-15T05:53:00Z", "notification-12345678", "daily", "daily-1", "daily_2025-11-15",
        "daily-2025-11-15", "daily-x", "daily_09:00", "daily:09:00", "daily-09:00:30", "daily_0900",
        "daily-10000042", "run-10000042", "refresh_1234567", "daily-morning", "daily-evening-2", "daily2025-11-15",
        "dailyNotification",
        "dailyNotification_3", "DailyNotification-2025-11-15", "DAILY", "DAILY_7", "2025-11-15", "2025_11_15",
        "2025-11-15T05:53:00Z", "2025-11-15T05:53:00.250Z", "2025-11-15T06:53:00+01:00", "2025-11-15T0553",
        "schedule-1", "schedule_12", "schedule-654321", "schedule.7", "schedule-2025-11-15-0900",
        "prefetch-20251115", "prefetch-202511150553", "prefetch-20251115055300", "prefetch_2025-11-15_05", "fetch-9",
        "event-100000", "evt-77", "evt77", "evt_000123",
        "daily-00012345", "notif-00012345", "daily_00012345", "DAILY-00000001", "daily-00123456", "notif0000042",
        "run-0000012", "00012345", "notif-0000042-2025-11-15", "cycle_00000000", "cycle-8", "task-3", "reminder-2",
        "job-15", "content-99",
        "edit:1", "id-7", "n-12-34", "c-1-2", "client-0-12", "robot", "robot-7", "good", "tomorrow", "late-too",
        "summed-up", "saved-too", "hour-23", "one", "rich-1", "private-1", "broken-12", "iphone-1.2",
        "unnamed-2025-11-14T05:50:00Z", "com.timesafari.dailynotification.fetch", "com.example.fetch", "dnp.fetch",
        "org.timesafari.daily", "8c6976e5-b541-4bee-bde9-7f8e0a3c2b11", "8C6976E5-B541-4BEE-BDE9-7F8E0A3C2B11",
        "notif-8c6976e5-b541-4bee-bde9-7f8e0a3c2b11", "00000000-0000-0000-0000-000000000000",
        "daily_8c6976e5-b541-4bee-bde9-7f8e0a3c2b11_2", "morning-briefing", "morningBriefing", "Morning-Briefing",
        "weather-alert-5", "news_digest_2", "notif-a1b2c3", "run-15m", "snooze-2nd", "week-46", "v2-daily",
        "test-notification", "redacted-h0123456789abcdef",
    ]
    package static let versions = [
        "1", "14", "1.0", "1.2.3", "v1.2.3", "1.2.3.4", "0.9.12", "10.11.12", "1.4.2 (4)", "1.4.2 (456)",
        "1.4.2(456)", "1.4.2+456", "1.4.2-456", "1.2.3-beta", "1.2.3-beta.2", "1.2.3-rc1", "1.2.3-SNAPSHOT",
        "1.2.3-debug", "1.2.3+5f3e9c1", "1.2.3-g5f3e9c1", "2.0.0-alpha.1+20251115", "1.2.3 (20251115)",
        "1.2.3 (1763185712)", "1.2.3 (2025111501)", "2025.11.15", "2025.1.5", "20251115", "120.0.6099.230", "17.1",
        "17.4.1", "18.0", "iOS 17.4.1", "iOS 26", "iPadOS 17.5", "Version 17.1 (Build 21B74)", "17.1 (21B74)",
        "17.0.3 (21A360)", "14.4.1 (23E224)", "Android 14", "android 15", "Android 14 (API 34)", "14 (API level 34)",
        "13 / SDK 33", "API 34", "34", "15 Beta 2", "1.0 TestFlight", "8.1.0",
    ]
    package static let models = [
        "iPhone15,2", "iPhone16,1", "iPhone", "iPhone 15 Pro", "iPhone 15 Pro Max", "iPhone SE (3rd generation)",
        "iPad13,18", "iPad Pro (11-inch)", "iPod9,1", "Watch6,1", "MacBookPro18,3", "Mac14,2", "AppleTV11,1",
        "arm64", "x86_64", "i386", "Pixel 8", "Pixel 8 Pro", "Pixel 7a", "SM-G998B", "SM-S918U1", "samsung SM-A515F",
        "Galaxy S23 Ultra", "CPH2449", "RMX3085", "22101316G", "M2101K6G", "Redmi Note 12 Pro", "moto g(60)s",
        "XQ-BC62", "LM-G710", "Nokia 8.3 5G", "OnePlus Nord CE 2", "sdk_gphone64_arm64", "vivo 1904",
    ]
    package static let errors = [
        "NetworkError", "AuthError", "notPermitted", "Odd", "E", "SQLITE_FULL", "ERR_NAME_NOT_RESOLVED", "HTTP_503",
        "E1234", "notifications_denied", "invalid_time_format", "scheduling_failed", "background_refresh_disabled",
        "task_scheduling_failed", "NSURLErrorDomain Code=-1009", "BGTaskSchedulerErrorDomain Code=1",
        "kCFErrorDomainCFNetwork", "NSPOSIXErrorDomain", "java.net.SocketTimeoutException",
        "java.net.UnknownHostException", "javax.net.ssl.SSLHandshakeException", "org.json.JSONException",
        "IOException", "Http2Error", "auth/invalid-credential", "URLError.notConnectedToInternet",
        "com.alamofire.error", "-1009", "503", "timeout",
    ]
}
