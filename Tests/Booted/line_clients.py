# SPDX-License-Identifier: Apache-2.0
"""A client of the socket of lines: it sends again what was not acknowledged, over a new connection."""

import socket


class LineClient:
    """Sends a line at a time and waits for its answer."""

    def __init__(self, path, timeout=30):
        self.path, self.timeout = path, timeout
        self.connection = self.answers = None

    def send(self, line):
        """The answer to a line, without its end; empty where the connection ended before there was one.

        Raises what connecting raises: nobody listens, or this user may not.
        """
        if self.connection is None:
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.settimeout(self.timeout)
            try:
                self.connection.connect(self.path)
            except OSError:
                self.close()
                raise
            self.answers = self.connection.makefile("r", encoding="utf-8", newline="\n")
        try:
            self.connection.sendall(line.encode() + b"\n")
            answer = self.answers.readline()
        except (BrokenPipeError, ConnectionResetError):
            answer = ""
        if not answer.endswith("\n"):
            self.close()
            return ""
        return answer[:-1]

    def close(self):
        for one in (self.answers, self.connection):
            if one:
                one.close()
        self.connection = self.answers = None


if __name__ == "__main__":
    import sys

    try:
        print(LineClient(sys.argv[1]).send(sys.argv[2]))
    except OSError as error:
        sys.exit(f"{error.strerror}")
