"""An extender for devices that nodes share: node-1 and node-2 are cabled to
fpga-a, node-3 to fpga-b. A pod gets a device if it requests example.com/fpga.

Only for scenarios: a device stays reserved when its pod is gone.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RESOURCE = "example.com/fpga"
DEVICES = {"node-1": "fpga-a", "node-2": "fpga-a", "node-3": "fpga-b"}
holders = {}  # by device, the uid of the pod for which it is reserved


def answer_filter(args):
    """Allows the nodes of one free device, and reserves it for the pod.

    A scheduler decides about one pod at a time. So the device is in use when
    the next pod is filtered, even while the first pod's Binding is on its way.
    """
    nodes = args["NodeNames"]
    if not any(RESOURCE in container.get("resources", {}).get("limits", {})
               for container in args["Pod"]["spec"]["containers"]):
        return {"NodeNames": nodes}
    uid = args["Pod"]["metadata"]["uid"]
    free = [DEVICES[node] for node in nodes
            if holders.get(DEVICES[node], uid) == uid]
    free.sort(key=lambda device: device not in holders)  # the pod's own first
    for device in free[:1]:
        holders[device] = uid
    allowed = [node for node in nodes if DEVICES[node] in free[:1]]
    return {"NodeNames": allowed,
            "FailedNodes": {node: "node(s) shared a device that is in use"
                            for node in nodes if node not in allowed}}


def answer_preempt(args):
    """Keeps the pods that hold a device: loading its program takes hours."""
    return {"NodeNameToMetaVictims": {
        node: victims
        for node, victims in args["NodeNameToMetaVictims"].items()
        if not any(pod["UID"] in holders.values() for pod in victims["Pods"])}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        calls = {"/filter": answer_filter, "/preempt": answer_preempt}
        answer = json.dumps(calls[self.path](args)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


port = int(os.environ["PORT"])
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
