#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""chat_server.py [--key KEY] [--status N] [--fails N] [--expect REGEX]... [--exit N] -- COMMAND...

Serves a small chat-completions endpoint on this machine, runs COMMAND with OPENAI_BASE_URL and OPENAI_API_KEY set to it,
and compares: each REGEX must be found in what the command prints (both outputs), the exit status must be N (0).

The first request that offers tools is answered by two calls of the first tool, every other one by a text. `{url}` in
COMMAND becomes the server's address.
"""
import argparse
import http.server
import json
import os
import re
import subprocess
import sys
import threading


def chunk(delta, finish=None, usage=None):
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    if usage:
        body["usage"] = usage
    return "data: " + json.dumps(body) + "\n\n"


def tool_calls(tool):
    properties = tool["function"].get("parameters", {}).get("properties", {})
    required = tool["function"].get("parameters", {}).get("required", [])
    events = [chunk({"role": "assistant", "content": None})]
    for index, word in enumerate(["Oslo", "Rome"]):
        arguments = json.dumps({name: word for name in required if properties[name].get("type") == "string"})
        events.append(chunk({"tool_calls": [{"index": index, "id": f"call_{word}", "type": "function",
                                             "function": {"name": tool["function"]["name"], "arguments": ""}}]}))
        for at in range(0, len(arguments), 5):
            events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[at:at + 5]}}]}))
    return events + [chunk({}, "tool_calls", {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70})]


def text():
    words = [chunk({"content": word + " "}) for word in "Both are dry, as far as anyone can tell.".split()]
    return words + [chunk({}, "stop", {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99})]


class handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        options = self.server.options
        if self.headers.get("Authorization") != "Bearer " + options.key:
            return self.refuse(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
        if options.status != 200 and options.fails > 0:
            options.fails -= 1
            return self.refuse(options.status, {"error": {"message": "try another time"}})
        answered = any(m["role"] == "tool" for m in request["messages"])
        events = tool_calls(request["tools"][0]) if request.get("tools") and not answered else text()
        body = "".join(events + ["data: [DONE]\n\n"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 37):
            self.wfile.write(body[at:at + 37])
            self.wfile.flush()

    def refuse(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", default="sk-of-the-test")
    parser.add_argument("--send-key", default=None)
    parser.add_argument("--status", type=int, default=200)
    parser.add_argument("--fails", type=int, default=1)
    parser.add_argument("--expect", action="append", default=[])
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.options = options
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    environment = dict(os.environ, OPENAI_BASE_URL=url, OPENAI_API_KEY=options.send_key or options.key, NO_PROXY="*")
    command = [word.replace("{url}", url) for word in options.command]
    ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=60)
    printed = ran.stdout.decode(errors="replace")
    missing = [regex for regex in options.expect if not re.search(regex, printed)]
    if ran.returncode == options.exit and not missing:
        return 0
    print(printed)
    print(f"exit status {ran.returncode}, expected {options.exit}; not found: {missing}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
