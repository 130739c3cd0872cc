// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Collector
import CollectorClient
internal import Foundation
import LogInput
import LogValidation

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether the local service is ready.",
        discussion: """
            Asks /-/ready once, for the health check of a container and for scripts that wait for a service. Without \
            --url it asks where the service listens by the settings that serve reads: the file of --config, else of \
            $DNP_TELEMETRY_CONFIG, and $DNP_TELEMETRY_LISTEN, else http://127.0.0.1:10910. Where their web configuration \
            has TLS, the service must present that certificate, unless --ca or --server-name says otherwise. Secrets come from files only.

            EXAMPLES
              dnp-telemetry health --url unix:/run/dnp-telemetry/http.sock
              dnp-telemetry health
              dnp-telemetry health --url https://telemetry.example.org \\
                --ca ca.pem --basic-auth-file user
              HEALTHCHECK CMD ["dnp-telemetry", "health", "--quiet"]

            EXIT STATUS
              0   ready
              1   not ready, or not there
              64  wrong usage
            """
    )

    @Option(
        help: ArgumentHelp(
            "The service: http://host:port, https://host:port, unix:/path/of/socket, or https+unix:/path/of/socket.",
            valueName: "url"
        )
    )
    var url: String?

    @Option(
        help: ArgumentHelp("File of the service's settings.", valueName: "file"),
        completion: .file(extensions: ["yml", "yaml"])
    )
    var config: String?

    @Option(help: ArgumentHelp("How long the answer may take.", valueName: "duration"))
    var timeout = TimeSpan(.seconds(3))

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Flag(help: "Print nothing; only set the exit status.")
    var quiet = false

    @Flag(help: "Accept any certificate of a service on this machine.")
    var insecure = false

    @OptionGroup(title: "Access")
    var access: AccessOptions

    func validate() throws {
        if let url { try check(try parsed(url)) }
        guard url == nil || config == nil else { throw ValidationError("expected --url or --config, found both") }
        guard timeout.duration >= .milliseconds(1) else { throw ValidationError("expected --timeout above 0s") }
    }

    func run() async throws {
        let verdict: HealthCheck.Verdict
        do throws(InvalidOption) {
            let check = try healthCheck()
            if check.tellsSecretInClear, !quiet {
                Terminal.say("the secret goes over the network in clear; use https://")
            }
            verdict = await check.verdict()
        } catch {
            verdict = .notReady("\(error)")
        }
        if !quiet { try print(verdict) }
        if verdict != .ready { throw ExitCode(1) }
    }

    private func healthCheck() throws(InvalidOption) -> HealthCheck {
        var access = access.access
        access.trustsAnyone = insecure
        var text = url ?? ""
        if url == nil {
            let service = try ServiceAddress(environment: ProcessInfo.processInfo.environment, file: config)
            text = service.url
            if !insecure, access.authorities == nil, access.serverName == nil {
                access.expectedCertificate = service.certificate
            }
        }
        return try HealthCheck(CollectorURL(text, path: HealthCheck.path), access, timeout: timeout.duration)
    }

    private func parsed(_ url: String) throws -> CollectorURL {
        do throws(InvalidOption) {
            return try CollectorURL(url, path: HealthCheck.path)
        } catch {
            throw ValidationError("--url: \(error)")
        }
    }

    private func check(_ address: CollectorURL) throws {
        guard !insecure || !address.isRemote else {
            throw ValidationError("expected --insecure with a service on this machine, found \(address); use --ca")
        }
    }

    private func print(_ verdict: HealthCheck.Verdict) throws {
        switch (verdict, format) {
        case (_, .json): try Terminal.print(verdict.json)
        case (.ready, .text): try Terminal.print("ready\n")
        case (.notReady(let reason), .text): try Terminal.print("not ready: \(reason)\n")
        }
    }
}
