// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that does what socket units do: it binds once, and hands the sockets over to each service that it starts, one
/// behind the other. Files in its directory tell it what else to do: no service is started while there is "hold", none
/// any more once there is "stop", and a port is listened on no longer, by anybody, once there is "break-" with its name.
enum SocketUnit {
    /// The arguments in front of the service's own.
    ///
    /// - Parameters:
    ///   - sockets: ports of 127.0.0.1, or paths, by the names of their descriptors.
    ///   - directory: where the program and its files are.
    static func wrapper(_ sockets: [String: String], in directory: String) throws -> [String] {
        let path = "\(directory)/socket-unit.py"
        try Data(program.utf8).write(to: URL(fileURLWithPath: path))
        let places = sockets.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        return ["/usr/bin/python3", path, places, directory]
    }

    /// The service gets SIGTERM when the program does, and a new one is started at once.
    private static let program = """
        import os, signal, socket, sys, time
        places, directory, command = sys.argv[1].split(), sys.argv[2], sys.argv[3:]
        listeners = {}
        for place in places:
            name, address = place.split("=", 1)
            if address.startswith("/"):
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(address)
            else:
                listener = socket.socket()
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", int(address)))
            listener.listen(128)
            listeners[name] = listener
        child = 0
        def forward(number, frame):
            if child:
                os.kill(child, signal.SIGTERM)
        signal.signal(signal.SIGTERM, forward)
        def there(name):
            return os.path.exists(os.path.join(directory, name))
        def start():
            # Out of the way of the numbers that they get.
            copies = [os.dup2(one.fileno(), 100 + index) for index, one in enumerate(listeners.values())]
            for index, copy in enumerate(copies):
                os.dup2(copy, 3 + index)
                os.set_inheritable(3 + index, True)
            names = ":".join(listeners)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(copies)), LISTEN_FDNAMES=names)
            for copy in copies:
                os.close(copy)
            os.execv(command[0], command)
        status = 0
        while not there("stop"):
            while there("hold"):
                time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                start()
            ended = 0
            while not ended:
                time.sleep(0.01)
                for name in [name for name in listeners if there("break-" + name)]:
                    listeners.pop(name).shutdown(socket.SHUT_RDWR)
                ended, status = os.waitpid(child, os.WNOHANG)
            child = 0
            status = os.waitstatus_to_exitcode(status)
            if status:
                break
        sys.exit(status)

        """
}
