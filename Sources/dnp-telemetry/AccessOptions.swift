// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CollectorClient

/// The credentials of a client. Secrets come from files only.
struct AccessOptions: ParsableArguments {
    @Option(help: ArgumentHelp("File with a bearer token.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("File with name:password.", valueName: "file"), completion: .file())
    var basicAuthFile: String?

    @Option(
        help: ArgumentHelp("PEM file of the authorities to trust instead of the machine's.", valueName: "file"),
        completion: .file()
    )
    var ca: String?

    @Option(
        help: ArgumentHelp("PEM file of the client's certificate, with --key.", valueName: "file"),
        completion: .file()
    )
    var cert: String?

    @Option(help: ArgumentHelp("PEM file of the certificate's key.", valueName: "file"), completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Name in the server's certificate, where its address has another one or is a socket.",
            valueName: "name"
        )
    )
    var serverName: String?

    func validate() throws {
        guard (cert == nil) == (key == nil) else { throw ValidationError("expected --cert and --key together") }
        guard tokenFile == nil || basicAuthFile == nil else {
            throw ValidationError("expected --token-file or --basic-auth-file, found both")
        }
        guard serverName.map(CollectorAccess.isServerName) ?? true else {
            throw ValidationError("expected --server-name as a name such as telemetry.example.org")
        }
    }

    var access: CollectorAccess {
        var access = CollectorAccess()
        access.tokenFile = tokenFile
        access.basicAuthFile = basicAuthFile
        access.authorities = ca
        access.certificate = cert
        access.key = key
        access.serverName = serverName
        return access
    }
}

extension TimeSpan: ExpressibleByArgument {
    /// Nil for a text that is not a time.
    public init?(argument: String) {
        self.init(argument)
    }
}
