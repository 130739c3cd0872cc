// SPDX-License-Identifier: Apache-2.0

@testable import TelemetryEvents

/// The wrappers of the log tools for iOS and Android.
extension WrapperSample {
    static let subsystem = "com.timesafari.dailynotification"

    static let apple = [
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1f2e     Default     0x0                  4242   0    App: (Library) "
                + "[\(subsystem):fetch] Starting fetch (a=1)",
            "fetch 2025-11-15T05:48:00.123456+0 - 4242 Starting fetch (a=1)"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0100 0x1f2e Error 0x12 7 14 My App: [\(subsystem):storage] text",
            "storage 2025-11-15T05:48:00.123456+3600 - 7 text"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: [\(subsystem):ui] [DNP-PLUGIN] text",
            "plugin 2025-11-15T05:48:00.123456+0 - 7 text"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: [\(subsystem):fetch] [DNP-PLUGIN] text",
            "plugin 2025-11-15T05:48:00.123456+0 - 7 text"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: (CoreFoundation) [DNP-FETCH] text",
            "fetch 2025-11-15T05:48:00.123456+0 - 7 text"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: [com.apple.net:fetch] text",
            "foreign"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: [\(subsystem):ui] text",
            "foreign"
        ),
        WrapperSample(
            .appleDefault,
            "2025-11-15 05:48:00.123456+0000 0x1 Info 0x0 7 0 App: [a:b] sent to [DNP-FETCH] now",
            "foreign"
        ),
        WrapperSample(
            .appleDefault,
            "Timestamp                       Thread     Type        Activity             PID    TTL  ",
            "foreign"
        ),
        WrapperSample(.appleDefault, "Filtering the log data using \"subsystem == \"\(subsystem)\"\"", "foreign"),
        WrapperSample(
            .appleCompact,
            "2025-11-15 05:48:00.123 Df App[4242:1f2e] [\(subsystem):scheduler] text",
            "scheduler 2025-11-15T05:48:00.123000 - 4242 text"
        ),
        WrapperSample(
            .appleCompact,
            "2025-11-15 05:48:00.123 E  My App[4242:1f2e] (Library) [\(subsystem):fetch] text",
            "fetch 2025-11-15T05:48:00.123000 - 4242 text"
        ),
        WrapperSample(.appleCompact, "2025-11-15 05:48:00.123 Df App[42:1] [com.apple.x:fetch] text", "foreign"),
        WrapperSample(.appleCompact, "Timestamp               Ty Process[PID:TID]", "foreign"),
        WrapperSample(
            .appleSyslog,
            "2025-11-15 05:48:00.123456+0000  localhost App[4242]: (Library) [\(subsystem):plugin] text",
            "plugin 2025-11-15T05:48:00.123456+0 localhost 4242 text"
        ),
        WrapperSample(
            .appleSyslog,
            "2025-11-15 05:48:00.123456+0000  localhost App[4242] <Notice>: [\(subsystem):plugin] text",
            "plugin 2025-11-15T05:48:00.123456+0 localhost 4242 text"
        ),
        WrapperSample(.appleSyslog, "2025-11-15 05:48:00.123456+0000  localhost kernel[0]: (IO) text", "foreign"),
        WrapperSample(.appleSyslog, "Timestamp                       (process)[PID]    ", "foreign"),
        WrapperSample(
            .idevicesyslog,
            "Nov 15 05:48:00 iPhone-von-X App(Library)[4242] <Notice>: [DNP-FETCH] text",
            "fetch -11-15T05:48:00 iPhone-von-X 4242 text"
        ),
        WrapperSample(
            .idevicesyslog,
            "Nov  5 05:48:00 iPhone App[4242] <Error>: [DNP-FETCH] text",
            "fetch -11-05T05:48:00 iPhone 4242 text"
        ),
        WrapperSample(
            .idevicesyslog,
            "Nov 15 05:48:00.123456 My App(Library)[4242] <Notice>: [DNP-FETCH] text",
            "fetch -11-15T05:48:00.123456 - 4242 text"
        ),
        WrapperSample(.idevicesyslog, "Nov 15 05:48:00 iPhone kernel(IO)[0] <Notice>: [x] text", "foreign"),
        WrapperSample(.idevicesyslog, "[connected]", "foreign"),
        WrapperSample(
            .xcode,
            "2025-11-14 05:48:00.123456+0000 App[123:456] [DNP-FETCH] text",
            "fetch 2025-11-14T05:48:00.123456+0 - 123 text"
        ),
        WrapperSample(
            .xcode,
            "2025-11-14 05:48:00.123456-0800 App[123:456] [fetch] [DNP-FETCH] text",
            "fetch 2025-11-14T05:48:00.123456-28800 - 123 text"
        ),
        WrapperSample(
            .xcode,
            "2025-11-14 05:48:00.123456+0000 App[123:456] [\(subsystem):fetch] text",
            "fetch 2025-11-14T05:48:00.123456+0 - 123 text"
        ),
        WrapperSample(
            .xcode,
            "2025-11-14 05:48:00.123456+0000 App[123:456] [fetch] text",
            "fetch 2025-11-14T05:48:00.123456+0 - 123 text"
        ),
        WrapperSample(.xcode, "2025-11-14 05:48:00.123456+0000 App[123:456] [network] text", "foreign"),
        WrapperSample(.xcode, "2025-11-14 05:48:00.123456+0000 App[123:456] say [DNP-FETCH] text", "foreign"),
    ]

    static let logcat = [
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I DNP-FETCH: text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I dnp-plugin    : [x] text",
            "plugin -11-15T05:40:00 - 4242 [x] text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 W DNP-FETCH: [DNP-STORAGE] text",
            "storage -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I ReactNativeJS: [DNP-FETCH] text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I Capacitor/Console: File: main.js - Line 3 - Msg: [DNP-FETCH] text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I DNP-NEW : text",
            "unknown -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "2025-11-15 05:40:00.000123  4242  4260 I DNP-FETCH: text",
            "fetch 2025-11-15T05:40:00.000123 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "2025-11-15 05:40:00.000000123 +0000  4242  4260 I DNP-FETCH: text",
            "fetch 2025-11-15T05:40:00+0 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "02-29 05:40:00.000 -0830 10123  4242  4260 I DNP-FETCH: text",
            "fetch -02-29T05:40:00-30600 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000 u0_a123  4242  4260 I DNP-FETCH: text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000 10123: 4242  4260 I DNP-FETCH: text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "         1763185200.125  4242  4260 I DNP-FETCH: text",
            "fetch 2025-11-15T05:40:00.125000+0 - 4242 text"
        ),
        WrapperSample(.logcatThreadtime, "   123.456  4242  4260 I DNP-FETCH: text", "fetch - - 4242 text"),
        WrapperSample(
            .logcatThreadtime,
            "2025-11-15 05:40:00.000 4242-4260/com.example.app I/DNP-FETCH: text",
            "fetch 2025-11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "2025-11-15 05:40:00.000  4242-4260  DNP-FETCH               com.example.app       I  text",
            "fetch 2025-11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatThreadtime,
            "11-15 05:40:00.000  4242  4260 I DNP-FETCH:",
            "fetch -11-15T05:40:00 - 4242 "
        ),
        WrapperSample(.logcatThreadtime, "11-15 05:40:00.000  4242  4260 I Other: text", "foreign"),
        WrapperSample(.logcatThreadtime, "11-15 05:40:00.000  4242  4260 I DNP: text", "foreign"),
        WrapperSample(.logcatThreadtime, "11-15 05:40:00.000  4242  4260 I Other: we saw [DNP-FETCH] text", "foreign"),
        WrapperSample(.logcatThreadtime, "--------- beginning of main", "foreign"),
        WrapperSample(
            .logcatTime,
            "11-15 05:40:00.000 I/DNP-FETCH( 4242): text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatTime,
            "2025-11-15 05:40:00.000 +0100 I/DNP-SCHEDULER(10123: 4242): text",
            "scheduler 2025-11-15T05:40:00+3600 - 4242 text"
        ),
        WrapperSample(
            .logcatTime,
            "11-15 05:40:00.000: I/DNP-FETCH(4242): text",
            "fetch -11-15T05:40:00 - 4242 text"
        ),
        WrapperSample(
            .logcatTime,
            "11-15 05:40:00.000 D/Some Tag (x)(  12): [DNP-FETCH] text",
            "fetch -11-15T05:40:00 - 12 text"
        ),
        WrapperSample(.logcatTime, "11-15 05:40:00.000 I/Other( 4242): text", "foreign"),
        WrapperSample(.logcatBrief, "I/DNP-FETCH( 4242): text", "fetch - - 4242 text"),
        WrapperSample(.logcatBrief, "W/DNP-STORAGE (u0_a12: 4242): text", "storage - - 4242 text"),
        WrapperSample(.logcatBrief, "I/DNP-FETCH: text", "fetch - - 0 text"),
        WrapperSample(.logcatBrief, "I( 4242) text (a)  (DNP-FETCH)", "fetch - - 4242 text (a)"),
        WrapperSample(.logcatBrief, "I(10123: 4242) text  (DNP-PLUGIN)", "plugin - - 4242 text"),
        WrapperSample(.logcatBrief, "I( 4242: 4260) [DNP-FETCH] text", "fetch - - 4242 text"),
        WrapperSample(.logcatBrief, "I/Other( 4242): text", "foreign"),
        WrapperSample(.logcatBrief, "I( 4242) text  (Other)", "foreign"),
        WrapperSample(.logcatLong, "[ 11-15 05:40:00.000  4242: 4260 I/DNP-FETCH ]", "foreign"),
    ]
}
