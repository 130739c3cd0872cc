# SPDX-License-Identifier: Apache-2.0
"""Listens with a full backlog, so that no connection to it is ever opened nor refused; prints its port."""

import socket
import time

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(0)
waiting = []
for _ in range(8):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(listener.getsockname())
    waiting.append(client)
print(listener.getsockname()[1], flush=True)
time.sleep(3600)
