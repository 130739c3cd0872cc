// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("The text of a setting")
struct SettingTextTests {
    private func complaint(_ read: () throws(SettingError) -> Void) -> String? {
        do throws(SettingError) {
            try read()
            return nil
        } catch {
            return error.message
        }
    }

    @Test(
        "the text of a setting is a number of bytes with or without a unit",
        arguments: [("0", 0), ("65536", 65_536), ("64KiB", 65_536), ("32MiB", 33_554_432), ("1GiB", 1_073_741_824)]
    )
    func settingTextSizes(text: String, bytes: Int) throws {
        #expect(try SettingText.size(text, 0...1 << 40) == bytes)
    }

    @Test(
        "the text of a setting is refused as bytes",
        arguments: [
            "", "KiB", "-1", "+1", "1.5MiB", "1kb", "1 MiB", "99999999999999999999", "9223372036854775807KiB", "2TiB",
        ]
    )
    func badSizes(text: String) {
        let found = complaint { () throws(SettingError) in _ = try SettingText.size(text, 0...1 << 40) }
        #expect(found?.hasPrefix("expected bytes from 0 to 1TiB, such as 32MiB, found ") == true, "\(found ?? "taken")")
    }

    @Test(
        "the text of a setting is a time with a unit",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)),
            ("1h", .seconds(3_600)),
            ("7d", .seconds(604_800)), ("0", .zero), ("0s", .zero),
        ]
    )
    func settingTextDurations(text: String, duration: Duration) throws {
        #expect(try SettingText.duration(text, .zero ... .seconds(1_000_000)) == duration)
    }

    @Test(
        "the text of a setting is refused as a time",
        arguments: ["", "10", "s", "-1s", "1.5s", "1w", "12d", "9223372036854775807d"]
    )
    func badDurations(text: String) {
        let found = complaint { () throws(SettingError) in
            _ = try SettingText.duration(text, .zero ... .seconds(1_000_000))
        }
        #expect(
            found?.hasPrefix("expected a time from 0 to 1000000s, such as 10s, found ") == true,
            "\(found ?? "taken")"
        )
    }

    @Test("the text of a setting is a rate", arguments: [("500/s", 500.0), ("30/m", 0.5), ("7200/h", 2)])
    func rates(text: String, rate: Double) throws {
        #expect(try SettingText.rate(text) == rate)
    }

    @Test("the text of a setting is refused as a rate", arguments: ["", "5", "0/s", "/s", "5/d", "-5/s", "5/s/s"])
    func badRates(text: String) {
        #expect(complaint { () throws(SettingError) in _ = try SettingText.rate(text) } != nil)
    }

    @Test(
        "the text of a setting is a part of all connections",
        arguments: [("half", ConnectionShare.half), ("off", .all), ("7", .count(7))]
    )
    func shares(text: String, share: ConnectionShare) throws {
        #expect(try SettingText.share(text) == share)
    }

    @Test("the text of a setting is refused as a part of all connections", arguments: ["0", "-1", "50%", "1000001"])
    func badShares(text: String) {
        let found = complaint { () throws(SettingError) in _ = try SettingText.share(text) }
        #expect(found == "expected half, a whole number from 1 to 1000000, or off, found \"\(text)\"")
    }

    @Test("the text of a setting is one of a few words, or is told what may have been meant")
    func choices() throws {
        #expect(try SettingText.choice("off", ServeConfiguration.JournalMode.allCases) == .off)
        let found = complaint { () throws(SettingError) in
            _ = try SettingText.choice("jurnald", ServeConfiguration.JournalMode.allCases)
        }
        #expect(found == "expected one of journald, stdout, off, found \"jurnald\"; did you mean journald?")
    }
}

@Suite("The text of a listener")
struct ListenerTextTests {
    @Test(
        "the text of a listener is an endpoint with attributes",
        arguments: [
            ("127.0.0.1:10910", Listener(.address(host: "127.0.0.1", port: 10_910))),
            ("[::1]:0", Listener(.address(host: "::1", port: 0))),
            (":80", Listener(.address(host: "", port: 80))),
            ("localhost:9100  serve=metrics", Listener(.address(host: "localhost", port: 9_100), services: .metrics)),
            ("unix:/run/a.sock", Listener(.unix(path: "/run/a.sock", mode: nil, group: nil))),
            (
                "unix:/run/a.sock group=adm mode=0660 serve=lines",
                Listener(.unix(path: "/run/a.sock", mode: 0o660, group: "adm"), services: .lines)
            ),
            ("systemd", Listener(.inherited(name: nil))),
            (
                "systemd:http serve=metrics+ingest",
                Listener(.inherited(name: "http"), services: [.metrics, .ingest])
            ),
            ("systemd:http serve=metrics+ingest+console", Listener(.inherited(name: "http"))),
        ]
    )
    func listenerTextGood(text: String, listener: Listener) throws {
        #expect(try Listener(text) == listener)
    }

    @Test(
        "the text of a listener is refused with what was expected",
        arguments: [
            ("", "expected host:port, unix:/path or systemd:name, found nothing"),
            ("80", "expected host:port such as"),
            ("a:65536", "expected host:port such as"),
            ("a:-1", "expected host:port such as"),
            ("::1:80", "expected host:port such as"),
            ("http://a:80", "expected host:port such as"),
            ("unix:run/a.sock", "expected unix: with an absolute path of at most 107 bytes"),
            (
                "unix:/" + String(repeating: "a", count: 107),
                "expected unix: with an absolute path of at most 107 bytes"
            ),
            ("unix:/a mode=888", "expected a mode such as 0660, found \"888\""),
            ("unix:/a mode=7777", "expected a mode such as 0660"),
            ("unix:/a mod=0660", "expected serve=, mode= or group=, found \"mod=0660\"; did you mean mode=?"),
            ("unix:/a mode=1 mode=2", "found mode= twice"),
            ("127.0.0.1:80 mode=0660", "mode= does not belong to 127.0.0.1:80, only to unix:/path"),
            ("127.0.0.1:80 serve=lines", "serve=lines needs unix:/path or systemd:name"),
            ("unix:/a serve=lines+metrics", "expected serve=ingest, serve=metrics"),
            ("unix:/a serve=", "expected serve=ingest, serve=metrics"),
            ("systemd:", "expected systemd:name"),
        ]
    )
    func listenerTextBad(text: String, message: String) {
        do throws(SettingError) {
            _ = try Listener(text)
            Issue.record("taken")
        } catch {
            #expect(error.message.hasPrefix(message), "\(error.message)")
        }
    }
}
