"""A room's follower, connected to the web door. Under gevent, a gRPC stream would block all other calls."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException

from chatiere.v1.room_service_pb2 import FollowRequest, FollowResponse
from loadtest.load.deployment import Deployment

# In the Connect protocol, the flag of a stream's last message. This message contains the status.
_END = 0x02


class Follower:
    """A call to Follow, in a separate thread."""

    def __init__(
        self, deployment: Deployment, room: bytes, take: Callable[[FollowResponse], None], fail: Callable[[str], None]
    ) -> None:
        """Follow a room as an onlooker.

        `take` is called with each response, `fail` with the reason if the call ends unexpectedly.
        """
        self._take, self._fail, self._has_left = take, fail, False
        self._connection = deployment.open_web_connection()
        body = FollowRequest(room=room, secret=secrets.token_bytes(16)).SerializeToString()
        headers = {"content-type": "application/connect+proto", "connect-protocol-version": "1"}
        self._connection.request(
            "POST",
            "/chatiere.v1.RoomService/Follow",
            b"\0" + len(body).to_bytes(4) + body,
            headers | dict(deployment.metadata()),
        )
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Stop following."""
        self._has_left = True
        with suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def _follow(self) -> None:
        try:
            response = self._connection.getresponse()
            if response.status != HTTPStatus.OK:
                raise HTTPException(f"{response.status}: {response.read().decode()}")
            while len(head := response.read(5)) == 5:
                message = response.read(int.from_bytes(head[1:]))
                if head[0] & _END:
                    raise HTTPException(message.decode())
                self._take(FollowResponse.FromString(message))
            raise HTTPException("the server closed the connection")
        except (OSError, HTTPException, ValueError) as error:
            if not self._has_left:
                self._fail(str(error))
