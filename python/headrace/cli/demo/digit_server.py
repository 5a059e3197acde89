"""A server of one folder's files that waits before it answers, as a distant one would; run as a process of its own.

python -m headrace.cli.demo.digit_server FOLDER LATENCY_MS      prints its port; ends when its standard input does
"""

import asyncio
import sys
from pathlib import Path


async def serve(folder: Path, latency_s: float) -> None:
    """Serves `folder` on loopback until standard input ends."""
    bodies = {f"/{path.name}": path.read_bytes() for path in folder.iterdir() if path.is_file()}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                body = bodies.get(request.split(b" ", 2)[1].decode())
                await asyncio.sleep(latency_s)
                status = "200 OK" if body is not None else "404 Not Found"
                body = body or b""
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has what it wanted
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2]) / 1000))
