// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Collector

@Suite("The files that say who may do what")
struct SecurityFilesTests {
    private let hash = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
    private let token = "0123456789abcdef"

    private func write(_ text: String, _ path: String) throws {
        try Files.write(Array(text.utf8), to: path)
    }

    @Test("are taken at the second look at a change, and not again")
    func change() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("web.yml")
        try write("basic_auth_users: {a: \(hash)}", path)
        var files = try SecurityFiles(webConfiguration: path, credentials: nil)
        #expect(files.look().isEmpty)
        try write("basic_auth_users: {b: \(hash), c: \(hash)}", path)
        #expect(files.look().isEmpty)
        #expect(files.rules.web.users.keys.sorted() == ["a"])
        #expect(files.look().map(\.problem) == [nil])
        #expect(files.rules.web.users.keys.sorted() == ["b", "c"])
        #expect(files.look().isEmpty)
    }

    @Test(
        "that are broken, empty or gone leave the rules as they were, and are told of once",
        arguments: ["basic_auth_users: {a: secret}", "basic_auth_user: {}", "[", "", "# nothing\n", nil]
    )
    func broken(text: String?) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("web.yml")
        try write("basic_auth_users: {a: \(hash)}", path)
        var files = try SecurityFiles(webConfiguration: path, credentials: nil)
        if let text { try write(text, path) } else { try FileManager.default.removeItem(atPath: path) }
        let readings = (0..<5).flatMap { _ in files.look() }
        #expect(readings.count == 1)
        #expect(readings.first?.problem != nil)
        #expect(readings.first?.problem?.description.contains(directory.file("web.yml")) == true)
        #expect(files.rules.web.users.count == 1)
        try write("{}", path)
        #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
        #expect(files.rules.web.users.isEmpty)
    }

    @Test("that name a certificate are taken anew when it or its key changes, once both belong together")
    func certificates() throws {
        let certificates = try TestCertificates()
        let path = certificates.file("web.yml")
        try write("tls_server_config: {cert_file: server.pem, key_file: server.key}", path)
        var files = try SecurityFiles(webConfiguration: path, credentials: nil)
        let first = try #require(files.rules.tls?.context)
        try Files.write(try Files.read(certificates.file("other.pem")), to: certificates.file("server.pem"))
        #expect((0..<2).flatMap { _ in files.look() }.map { $0.problem != nil } == [true])
        #expect(files.rules.tls?.context === first)
        try Files.write(try Files.read(certificates.file("other.key")), to: certificates.file("server.key"))
        #expect((0..<2).flatMap { _ in files.look() }.map { $0.problem != nil } == [false])
        #expect(files.rules.tls.map { $0.context !== first } == true)
        try write("{}", path)
        let problem = (0..<2).flatMap { _ in files.look() }.first?.problem
        #expect(problem?.message.contains("TLS is switched off by a restart only") == true)
        #expect(files.rules.tls != nil)
    }

    @Test("give tokens that come and go; once there were some, events need one for good")
    func tokens() throws {
        let directory = try TemporaryDirectory()
        var files = try SecurityFiles(webConfiguration: nil, credentials: directory.path)
        #expect(!files.rules.needsToken)
        try write(token, directory.file("token-a"))
        #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
        #expect(files.rules.needsToken)
        #expect(files.rules.tokens.name(of: Array(token.utf8)) == "a")
        try write("short", directory.file("token-b"))
        #expect(
            (0..<3).flatMap { _ in files.look() }.compactMap { $0.problem?.origin.description } == [
                directory.file("token-b")
            ]
        )
        #expect(files.rules.tokens.names == ["a"])
        for name in ["token-a", "token-b"] { try FileManager.default.removeItem(atPath: directory.file(name)) }
        #expect((0..<2).flatMap { _ in files.look() }.map(\.problem) == [nil])
        #expect(files.rules.tokens.isEmpty)
        #expect(files.rules.needsToken)
    }

    @Test("are read at once when asked to")
    func reread() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("web.yml")
        try write("{}", path)
        var files = try SecurityFiles(webConfiguration: path, credentials: directory.path)
        try write("basic_auth_users: {a: \(hash)}", path)
        try write(token, directory.file("token-a"))
        #expect(files.reread().map(\.problem) == [nil, nil])
        #expect(files.rules.needsToken && files.rules.web.users.count == 1)
        #expect((0..<3).flatMap { _ in files.look() }.isEmpty)
    }
}
