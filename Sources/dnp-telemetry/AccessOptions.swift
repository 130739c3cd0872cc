// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Collector

/// How a client and a collector know each other over TLS.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("PEM file of the authorities to trust in place of the machine's.", valueName: "file"),
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

    func validate() throws {
        guard (cert == nil) == (key == nil) else { throw ValidationError("expected --cert and --key together") }
    }

    var access: CollectorAccess {
        var access = CollectorAccess()
        access.authorities = ca
        access.certificate = cert
        access.key = key
        return access
    }
}
