"""A hub and its content delivery network on loopback: two servers on two ports, which speak the protocol that the
package huggingface_hub speaks, and can be told to misbehave."""
import hashlib
import http.server
import json
import re
import threading
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Hub:
    """`files`: path → bytes; what is 1 kB or more is a large file, whose bytes lie on the other server."""

    def __init__(self, files, token=None, gated=False):
        self.files, self.token, self.gated = dict(files), token, gated
        self.requests = []          # (server, method, path, headers)
        self.cuts = {}              # path → how many more times its transfer breaks off in the middle
        self.broken = {}            # path → bytes sent in its place
        self.failures = 0           # how many more requests for the list answer 503
        self.ranges = True
        self.bare_list = False      # the list has names only
        self.commit = COMMIT
        self.hub, self.cdn = Server(self, "hub"), Server(self, "cdn")
        self.endpoint = self.hub.address

    def is_large(self, path):
        return len(self.files[path]) >= 1000

    def etag(self, path):
        content = self.files[path]
        return hashlib.sha256(content).hexdigest() if self.is_large(path) else git_sha1(content)

    def listing(self):
        siblings = []
        for path, content in self.files.items():
            entry = {"rfilename": path}
            if not self.bare_list:
                entry |= {"size": len(content), "blobId": git_sha1(content)}
                if self.is_large(path):
                    entry["lfs"] = {"sha256": self.etag(path), "size": len(content), "pointerSize": 134}
            siblings.append(entry)
        return {"_id": "1", "id": "org/model", "modelId": "org/model", "private": False, "tags": [], "downloads": 0,
                "likes": 0, "sha": self.commit, "siblings": siblings}

    def tree(self):
        for path, content in self.files.items():
            lfs = {"lfs": {"oid": self.etag(path), "size": len(content), "pointerSize": 134}} if self.is_large(path) else {}
            yield {"type": "file", "path": path, "size": len(content), "oid": git_sha1(content), **lfs}

    def sent(self, server, method="GET"):
        return [path for where, how, path, _ in self.requests if where == server and how == method]

    def close(self):
        self.hub.close()
        self.cdn.close()


class Server:
    def __init__(self, hub, name):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                answer(self, hub, name)

            do_HEAD = do_GET
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def refuse(handler, status, code=None, message=""):
    handler.send_response(status)
    if code:
        handler.send_header("X-Error-Code", code)
    if message:
        handler.send_header("X-Error-Message", message)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def answer(handler, hub, name):
    hub.requests.append((name, handler.command, handler.path, dict(handler.headers)))
    path = urllib.parse.unquote(handler.path.partition("?")[0])
    if name == "cdn":
        return send_file(handler, hub, path.removeprefix("/bytes/"))
    if hub.token and handler.headers.get("Authorization") != f"Bearer {hub.token}":
        return refuse(handler, 401, "RepoNotFound", "Invalid username or password.")
    if hub.gated:
        return refuse(handler, 403, "GatedRepo", "Access to model org/model is restricted.")
    if match := re.fullmatch(r"/api/models/org/model(?:/revision/(.+))?", path):
        if hub.failures:
            hub.failures -= 1
            return refuse(handler, 503)
        if match[1] not in (None, "main", "refs/pr/1", hub.commit):
            return refuse(handler, 404, "RevisionNotFound", f"Invalid rev id: {match[1]}")
        body = json.dumps(hub.listing()).encode()
        return send(handler, 200, body, {"Content-Type": "application/json"})
    if path == f"/api/models/org/model/tree/{hub.commit}":
        return send(handler, 200, json.dumps(list(hub.tree())).encode(), {"Content-Type": "application/json"})
    if match := re.fullmatch(r"/org/model/resolve/([^/]+|refs/pr/1)/(.+)", path):
        if match[2] not in hub.files:
            return refuse(handler, 404, "EntryNotFound")
        return send_file_of_hub(handler, hub, match[2])
    return refuse(handler, 404, "RepoNotFound")


def send_file_of_hub(handler, hub, path):
    headers = {"X-Repo-Commit": hub.commit, "ETag": f'"{hub.etag(path)}"'}
    if not hub.is_large(path):
        return send_file(handler, hub, path, headers)
    headers |= {"X-Linked-Etag": f'"{hub.etag(path)}"', "X-Linked-Size": str(len(hub.files[path])),
                "Location": f"{hub.cdn.address}/bytes/{urllib.parse.quote(path)}?signature=x"}
    return send(handler, 302, b"Found. Redirecting", headers)


def send_file(handler, hub, path, headers=None):
    content = hub.broken.get(path, hub.files[path])
    status, headers = 200, dict(headers or {})
    wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if wanted and hub.ranges:
        begin = int(wanted[1])
        if begin >= len(content):
            return refuse(handler, 416)
        status, headers["Content-Range"] = 206, f"bytes {begin}-{len(content) - 1}/{len(content)}"
        content = content[begin:]
    cut = hub.cuts.get(path, 0)
    if cut:
        hub.cuts[path] = cut - 1
    return send(handler, status, content, headers, len(content) // 2 if cut else None)


def send(handler, status, body, headers, cut_after=None):
    handler.send_response(status)
    for key, value in headers.items():
        handler.send_header(key, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command == "HEAD":
        return
    handler.wfile.write(body if cut_after is None else body[:cut_after])
    if cut_after is not None:
        handler.close_connection = True
