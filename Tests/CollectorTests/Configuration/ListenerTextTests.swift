// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("The text of a listener")
struct ListenerTextTests {
    @Test(
        "is an endpoint with attributes",
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
            ("systemd:http serve=metrics+ingest", Listener(.inherited(name: "http"))),
        ]
    )
    func good(text: String, listener: Listener) throws {
        #expect(try Listener(text) == listener)
    }

    @Test(
        "is refused with what was expected",
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
    func bad(text: String, message: String) {
        do throws(SettingError) {
            _ = try Listener(text)
            Issue.record("taken")
        } catch {
            #expect(error.message.hasPrefix(message), "\(error.message)")
        }
    }
}
