"""The command that the judge starts to reach functions in another process: it copies its standard
input to a Unix socket, and the answers from there to its standard output.

usage: _relay.py SOCKET
"""

import os
import socket
import sys
import threading

CHUNK_BYTES = 1 << 16


def main() -> None:
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(sys.argv[1])

        def hand_over() -> None:
            while chunk := os.read(0, CHUNK_BYTES):
                there.sendall(chunk)
            there.shutdown(socket.SHUT_WR)

        threading.Thread(target=hand_over, daemon=True).start()
        while chunk := there.recv(CHUNK_BYTES):
            while chunk:
                chunk = chunk[os.write(1, chunk) :]


if __name__ == "__main__":
    main()
