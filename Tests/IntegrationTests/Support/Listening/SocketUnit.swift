// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that does what a socket unit does: it binds once, and hands the socket over to each service that it starts,
/// one behind the other, until it is told to end by the file "stop".
enum SocketUnit {
    /// The arguments in front of the service's own.
    ///
    /// - Parameters:
    ///   - address: a port of 127.0.0.1, or a path.
    ///   - directory: where the program and the file "stop" are.
    static func wrapper(_ address: String, name: String, in directory: String) throws -> [String] {
        let path = "\(directory)/socket-unit.py"
        try Data(program.utf8).write(to: URL(fileURLWithPath: path))
        return ["/usr/bin/python3", path, address, name, "\(directory)/stop"]
    }

    /// The service gets SIGTERM when the program does, and a new one is started at once.
    private static let program = """
        import os, signal, socket, sys
        address, name, stop, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
        if address.startswith("/"):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(address)
        else:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", int(address)))
        listener.listen(128)
        child = 0
        def forward(number, frame):
            if child:
                os.kill(child, signal.SIGTERM)
        signal.signal(signal.SIGTERM, forward)
        status = 0
        while not os.path.exists(stop):
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.dup2(listener.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=name)
                os.execv(command[0], command)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status:
                break
        sys.exit(status)

        """
}
