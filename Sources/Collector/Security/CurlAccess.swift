// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL
internal import PeerNames

/// What curl needs to be let in on this machine, for the commands that the start screen suggests. It names files and never
/// what is in them.
struct CurlAccess: Sendable {
    /// A name in the service's certificate, to be asked for in place of the address; nil where the address will do.
    private var names: Set<String>?
    private var encryption: [String] = []
    private var posting: [String] = []
    private var reading: [String] = []

    /// Neither TLS nor tokens nor users.
    init() {}

    /// - Parameter configuration: whose files are read again; where they cannot be, there is nothing to add.
    init(_ configuration: ServeConfiguration) {
        let (web, credentials) = (configuration.webConfigurationFile, configuration.credentialsDirectory)
        guard let files = try? SecurityFiles(webConfiguration: web, credentials: credentials) else { return }
        let rules = files.rules
        if let tls = rules.web.tls { addEncryption(tls) }
        if !rules.web.users.isEmpty { reading = ["-u USER"] }
        posting = reading
        if let credentials, let token = rules.tokens.names.min() {
            let file = ShellWord.quoted("\(credentials.path)/\(BearerToken.Role.ingest.prefix)\(token)")
            posting = [#"-H "Authorization: Bearer $(cat \#(file))""#]
        }
    }

    private mutating func addEncryption(_ tls: TLSSettings) {
        if case .file(let path) = tls.certificate, let chain = try? NIOSSLCertificate.fromPEMFile(path),
            let certificate = chain.first
        {
            names = CertificateNames.of(certificate).filter { $0.utf8.allSatisfy(ShellWord.isPlain) }
            encryption = ["--cacert \(ShellWord.quoted(path))"]
        } else {
            encryption = ["--insecure"]
        }
        if tls.clientAuthentication.isRequired { encryption += ["--cert client.pem", "--key client.key"] }
    }

    /// The arguments of curl for a path of an address.
    ///
    /// - Parameter isPost: whether events are posted.
    func arguments(_ address: ListeningAddress, _ path: String, isPost: Bool) -> String {
        let isTrusted = names.map { $0.contains(address.host) } ?? true
        let name = isTrusted ? nil : names?.filter { !$0.contains("*") && !$0.contains("@") && !$0.contains(":") }.min()
        let trust =
            isTrusted || name != nil ? encryption : encryption.map { $0.hasPrefix("--cacert") ? "--insecure" : $0 }
        return (trust + (isPost ? posting : reading) + [address.curl(path, named: name)]).joined(separator: " ")
    }
}

/// Words of a POSIX shell.
private enum ShellWord {
    /// A word that stands for itself, quoted where it has to be; also inside `"$(...)"`, where quoting begins anew.
    static func quoted(_ word: String) -> String {
        word.utf8.allSatisfy(isPlain) && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// Whether a byte stands for itself in a shell.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+:@%".utf8.contains(byte)
        }
    }
}
