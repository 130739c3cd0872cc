// SPDX-License-Identifier: Apache-2.0

import Export
import Testing

@testable import Collector

@Suite("The setting export")
struct ExportSettingTests {
    private func complaint(_ text: String) -> String? {
        do throws(SettingError) {
            _ = try ExportSetting(text)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("an OTLP destination sends metrics and logs below its address, with what its attributes say")
    func otlp() throws {
        let plain = try ExportSetting("otlp http://127.0.0.1:4318").streams
        #expect(plain.map(\.signal) == [.metrics, .logs])
        #expect(plain.map(\.endpoint.path) == ["/v1/metrics", "/v1/logs"])
        #expect(plain.allSatisfy { $0.name == "otlp" && !$0.isJSON && $0.isCompressed && $0.interval == .seconds(15) })
        let rich = try ExportSetting(
            "otlp https://c.example/base only=logs name=main encoding=json compression=none timeout=250ms headers=otlp "
                + "ca=/ca.pem cert=/c.pem key=/k.pem proxy=http://proxy:3128"
        ).streams
        let stream = try #require(rich.first)
        #expect(rich.count == 1 && stream.signal == .logs && stream.endpoint.path == "/base/v1/logs")
        #expect(stream.name == "main" && stream.isJSON && !stream.isCompressed && stream.timeout == .milliseconds(250))
        #expect(stream.headersFile == "otlp" && stream.files.authorities == "/ca.pem")
        #expect(stream.files.certificate == "/c.pem" && stream.files.key == "/k.pem" && stream.proxy?.port == 3128)
    }

    @Test(
        "an address that is refused is shown without what may be secret",
        arguments: [
            "otlp http://user:S3CRET@a:4318", "otlp https://a proxy=http://user:S3CRET@p:3128",
            "otlp http://a:0/?token=S3CRET", "otlp http://u:S3CRET?x@a", "otlp http://u:S3C@RET:S3CRET@a/S3CRET@b",
        ]
    )
    func secretsAreNotShown(text: String) throws {
        let shown = try #require(complaint(text))
        #expect(!shown.contains("S3CRET") && shown.contains("expected"))
    }

    @Test("remote write uses its address as it is")
    func remoteWrite() throws {
        let setting = try ExportSetting("remote-write http://db:8086/api/v1/prom/write?db=dnp version=1 interval=1m")
        let stream = try #require(setting.streams.first)
        #expect(setting.name == "remote-write" && stream.signal == .remoteWrite && stream.version == .v1)
        #expect(stream.endpoint.path == "/api/v1/prom/write?db=dnp" && stream.interval == .seconds(60))
    }

    @Test(
        "a setting that cannot work is refused with what was expected",
        arguments: [
            ("otlp", "expected otlp or remote-write and an address"),
            ("kafka http://a", "expected otlp or remote-write"),
            ("otlp a:4318", "expected an address such as"),
            ("otlp http://user:secret@a", "without a name and password"),
            ("otlp http://a intervall=3s", "did you mean interval=?"),
            ("otlp http://a only=traces", "expected only=metrics or only=logs"),
            ("otlp http://a version=2", "version= does not belong to otlp"),
            ("remote-write http://a only=logs", "only= does not belong to remote-write"),
            ("remote-write http://a version=3", "expected version=1 or version=2"),
            ("otlp http://a interval=100ms", "expected"),
            ("otlp http://a name=UP", "expected name="),
            ("otlp http://a name=a name=b", "found name= twice"),
            ("otlp https://a cert=/c.pem", "cert= and key= belong together"),
            ("otlp http://a ca=/ca.pem", "need https://"),
            ("otlp https://a ca=ca.pem", "absolute path"),
            ("otlp http://a proxy=https://p", "expected proxy="),
            ("otlp http://a headers=", "expected headers="),
        ]
    )
    func refusedSettings(text: String, expected: String) {
        #expect(complaint(text)?.contains(expected) == true, "\(complaint(text) ?? "taken")")
    }

    @Test("two destinations of one name conflict, also with that of OpenTelemetry's variables")
    func namesConflict() throws {
        func problems(_ exports: [String], _ environment: [String: String] = [:]) -> [String] {
            let reader = SettingsReader(
                options: ["export": exports],
                environment: ["HOME": "/home"].merging(environment) { $1 }
            )
            do throws(ConfigurationProblems) {
                _ = try reader.read()
                return []
            } catch {
                return error.problems.map(\.description)
            }
        }
        #expect(problems(["otlp http://a", "remote-write http://a"]) == [])
        #expect(problems(["otlp http://a", "otlp http://b"]).first?.contains("otlp twice") == true)
        let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"]
        #expect(problems(["otlp http://a"], variables) == [])
        #expect(problems(["otlp http://a name=opentelemetry"], variables).count == 1)
    }
}

@Suite("The variables of OpenTelemetry")
struct OpenTelemetryVariablesTests {
    @Test("nothing is sent where no endpoint and no exporter is named")
    func silentByDefault() {
        for environment in [
            [:], ["OTEL_SERVICE_NAME": "a"], ["OTEL_EXPORTER_OTLP_ENDPOINT": ""],
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "True"],
            ["OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "console"],
        ] {
            #expect(OpenTelemetryVariables(environment).setting == nil)
        }
    }

    @Test("the endpoint gets the signal's path, and one of a signal is used as it is")
    func endpoints() throws {
        let variables = OpenTelemetryVariables([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1/base",
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://b:2/mine",
        ])
        let streams = try #require(variables.setting).streams
        #expect(streams.map { "\($0.endpoint)" } == ["http://a:1/base/v1/metrics", "http://b:2/mine"])
        #expect(streams.allSatisfy { $0.name == "opentelemetry" && !$0.isCompressed && $0.interval == .seconds(60) })
        let named = OpenTelemetryVariables(["OTEL_LOGS_EXPORTER": "otlp"])
        #expect(named.setting?.streams.map { "\($0.endpoint)" } == ["http://localhost:4318/v1/logs"])
    }

    @Test("a signal's own variable wins, and headers are decoded")
    func ownVariablesWin() throws {
        let variables = OpenTelemetryVariables([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://a", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_TIMEOUT": "1500",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c, d = e",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": #filePath, "OTEL_METRIC_EXPORT_INTERVAL": "5000",
        ])
        let streams = try #require(variables.setting).streams
        #expect(streams.map(\.isJSON) == [false, true])
        for stream in streams {
            #expect(stream.timeout == .milliseconds(1_500) && stream.isCompressed && stream.interval == .seconds(5))
            #expect(stream.headers.map { "\($0.name)=\($0.value)" } == ["a=b c", "d=e"])
            #expect(stream.files.authorities == #filePath)
        }
        #expect(variables.warnings.isEmpty)
    }

    @Test("OTEL_SERVICE_NAME wins over the attribute of the resource")
    func attributes() {
        let variables = OpenTelemetryVariables([
            "OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment.environment=lab%2C1", "OTEL_SERVICE_NAME": "b",
        ])
        #expect(
            Set(variables.attributes.map { "\($0.name)=\($0.value)" }) == [
                "service.name=b", "deployment.environment=lab,1",
            ]
        )
    }

    @Test("what cannot be used is ignored with a warning that names the variable")
    func warnings() {
        let variables = OpenTelemetryVariables([
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT": "soon", "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION": "zstd",
            "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta", "OTEL_RESOURCE_ATTRIBUTES": "broken",
        ])
        #expect(variables.setting?.streams.count == 2)
        #expect(
            Set(variables.warnings.map { "\($0.origin)" }) == [
                "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT",
                "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
                "OTEL_RESOURCE_ATTRIBUTES",
            ]
        )
    }
}
