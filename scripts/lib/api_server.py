"""Clients of an API server that is measured, and the server's processes."""

import collections
import http.client
import json
import os
import pathlib
import ssl

from embedded import ROOT, fail

CLUSTER = pathlib.Path(os.environ.get("MINISCHED_CLUSTER_DIR",
                                      ROOT / ".cluster")).absolute()
NODES = "/api/v1/nodes"


def cpu_seconds(*pids: int) -> float:
    ticks = 0
    for pid in pids:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


class Server:
    """A server to measure: its address and its processes."""

    def __init__(self, name: str, address: str, pids: list[int],
                 tls: ssl.SSLContext | None = None):
        self.name = name
        self.address = address
        self.pids = pids
        self.tls = tls

    def connect(self) -> http.client.HTTPConnection:
        if self.tls:
            return http.client.HTTPSConnection(self.address, context=self.tls)
        return http.client.HTTPConnection(self.address)

    def cpu_seconds(self) -> float:
        return cpu_seconds(*self.pids)

    def resident_mib(self) -> float:
        pages = sum(
            int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
                .split()[1]) for pid in self.pids)
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Client:
    """One connection. Exits if a call fails. Counts its calls."""

    def __init__(self, server: Server):
        self.connection = server.connect()
        self.calls: collections.Counter[str] = collections.Counter()

    def call(self, method: str, path: str, body: object = None,
             content_type: str = "application/json") -> bytes:
        """`body` is JSON, or bytes that contain JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.calls[f"{method} {path.partition('?')[0]}"] += 1
        response = self._request(method, path, body, content_type)
        answer = response.read()
        if response.status >= 300:
            fail(f"{method} {path}: {answer.decode()}")
        return answer

    def _request(self, method: str, path: str, body: bytes | None,
                 content_type: str) -> http.client.HTTPResponse:
        headers = {"Content-Type": content_type}
        try:
            self.connection.request(method, path, body, headers)
            return self.connection.getresponse()
        except (http.client.RemoteDisconnected, OSError):
            # A server closes connections that are idle for a minute or two.
            if method != "GET":
                raise
            self.connection.close()
            self.connection.request(method, path, body, headers)
            return self.connection.getresponse()


def pid_of(cluster: pathlib.Path, name: str) -> int:
    """Returns the pid of a component that scripts/cluster has started."""
    return int((cluster / "run" / f"{name}.pid").read_text(encoding="ascii"))


def connect_real(cluster: pathlib.Path) -> Server:
    """Returns the API server that scripts/cluster runs in this folder."""
    ports = dict(line.split() for line in (cluster / "ports").read_text(
        encoding="ascii").splitlines())
    tls = ssl.create_default_context(cafile=cluster / "pki" / "ca.crt")
    tls.load_cert_chain(cluster / "pki" / "admin.crt",
                        cluster / "pki" / "admin.key")
    return Server("kube-apiserver and etcd",
                  "127.0.0.1:" + ports["kube-apiserver"],
                  [pid_of(cluster, "kube-apiserver"), pid_of(cluster, "etcd")],
                  tls)


def positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise ValueError
    return number
