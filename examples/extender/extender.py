#!/usr/bin/env python3
"""An extender that keeps pods off hot machines and prefers cool ones."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOO_HOT = 70  # °C


def temperature(node):
    """Returns what the sensor of a node shows, or 0 if it has none."""
    with open("temperatures.json", encoding="utf-8") as sensors:
        return json.load(sensors).get(node, 0)


def answer_filter(nodes):
    hot = [node for node in nodes if temperature(node) > TOO_HOT]
    return {"NodeNames": [node for node in nodes if node not in hot],
            "FailedNodes": {node: "node(s) were too hot" for node in hot}}


def answer_prioritize(nodes):
    return [{"Host": node, "Score": max(0, 10 - temperature(node) // 10)}
            for node in nodes]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        nodes = json.loads(self.rfile.read(length))["NodeNames"]
        calls = {"/filter": answer_filter, "/prioritize": answer_prioritize}
        answer = json.dumps(calls[self.path](nodes)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


port = int(os.environ.get("PORT", "8888"))
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
