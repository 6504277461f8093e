"""A client of a Kubernetes API server, for scripts/soak and its checker."""

import base64
import http.client
import json
import pathlib
import re
import ssl
import tempfile
import time

NAMESPACE = "/api/v1/namespaces/default"
PODS = f"{NAMESPACE}/pods"
CLAIMS_PATH = f"{NAMESPACE}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CAPACITIES = "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities"
NODES = "/api/v1/nodes"
PATIENCE = 90  # seconds until an API server must be back after a kill

# Labels and names, by which the checker recognizes what the churn expects.
# Is the pod bound in the end? must, never, maybe, CLAIMS: if its claims can be
# bound, or EVICTS: if it fits a node once all pods of lower priority are gone.
WANT, CLAIMS, EVICTS = "soak/want", "claims", "evicts"
GROUP = "pod-group.scheduling.sigs.k8s.io/name"
MIN_AVAILABLE = "pod-group.scheduling.sigs.k8s.io/min-available"
# Only Bindings of these pods may take effect although the scheduler gets an
# error: then the scheduler can't know that the pod's room is taken until the
# watch reports it, and may use it twice.
AMBIGUOUS = "amb-"
# Classes whose claims wait for their first consumer: without a provisioner, and
# with one that has much storage, or a limited amount in each zone.
WAITING, PROVISIONED, LIMITED = "soak-waiting", "soak-made", "soak-limited"
# The volumes of these claims are made very late.
LATE = "late-"
# Seconds until the provisioner has made a volume or has failed.
PROVISION, LATE_PROVISION = 8, 90
URGENT = "soak-urgent"  # a PriorityClass

Object = dict


class Api:
    """One connection to the server of a kubeconfig. Not thread-safe."""

    def __init__(self, kubeconfig: pathlib.Path, agent: str):
        text = kubeconfig.read_text(encoding="utf-8")
        url = field(text, "server")
        self.host = url.split("//")[1].rstrip("/")
        self.tls = tls(text) if url.startswith("https:") else None
        self.agent = agent
        self.connection = self.connect()

    def connect(self, timeout: float = 30) -> http.client.HTTPConnection:
        if self.tls:
            return http.client.HTTPSConnection(self.host, context=self.tls,
                                               timeout=timeout)
        return http.client.HTTPConnection(self.host, timeout=timeout)

    def call(self, method: str, path: str, body: object = None,
             kind: str = "application/json") -> tuple[int, Object]:
        """Returns the status code and the response.

        Sends the request again while there is no response, so a request may take
        effect twice. Raises TimeoutError after PATIENCE seconds.
        """
        deadline = time.monotonic() + PATIENCE
        data = None if body is None else json.dumps(body)
        while True:
            try:
                self.connection.request(
                    method, path, data,
                    {"Content-Type": kind, "User-Agent": self.agent})
                response = self.connection.getresponse()
                answer = json.loads(response.read() or b"{}")
                if response.status not in (429, 500, 503, 504):
                    return response.status, answer
                error = answer.get("message", "")
            except (OSError, http.client.HTTPException, ValueError) as failed:
                error = str(failed)
            self.connection.close()
            self.connection = self.connect()
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"no response to {method} {path} for {PATIENCE} s: {error}")
            time.sleep(0.2)

    def get(self, path: str) -> Object:
        status, answer = self.call("GET", path)
        if status != 200:
            raise RuntimeError(f"GET {path}: {answer.get('message')}")
        return answer

    def watch(self, path: str, version: str) -> http.client.HTTPResponse:
        """Returns a stream of events after a resource version.

        Bookmarks come once a minute, so a stream that is silent for longer is
        dead: then reading from it raises TimeoutError.
        """
        connection = self.connect(timeout=150)
        connection.request(
            "GET", f"{path}{'&' if '?' in path else '?'}"
            "watch=true&allowWatchBookmarks=true"
            f"&resourceVersion={version}&timeoutSeconds=1800",
            headers={"User-Agent": self.agent})
        return connection.getresponse()


def field(text: str, key: str) -> str:
    found = re.search(rf"^[ -]*{key}: *\"?([^\s\"]+)", text, re.MULTILINE)
    if not found:
        raise RuntimeError(f"the kubeconfig has no {key}")
    return found.group(1)


def tls(text: str) -> ssl.SSLContext:
    """Returns the context for the certificates of a kubeconfig like kind's."""
    data = {key: base64.b64decode(field(text, f"{key}-data")).decode("ascii")
            for key in ("certificate-authority", "client-certificate",
                        "client-key")}
    context = ssl.create_default_context(cadata=data["certificate-authority"])
    with tempfile.NamedTemporaryFile("w") as pair:  # readable only by the user
        pair.write(data["client-certificate"] + data["client-key"])
        pair.flush()
        context.load_cert_chain(pair.name)
    return context


UNITS = {"": 1000, "m": 1, "Ki": 1000 << 10, "Mi": 1000 << 20,
         "Gi": 1000 << 30, "Ti": 1000 << 40, "k": 10**6, "M": 10**9,
         "G": 10**12}


def milli(quantity: object) -> int:
    """Returns thousandths of a quantity such as 250m or 2Gi."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(quantity)).groups()
    return round(float(number) * UNITS[unit])
