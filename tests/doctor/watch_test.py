"""--watch: faults that appear and clear are printed, stand in the faults file, and reach the webhook, which may be
unreachable or refuse for a while."""
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from simulated import SimulatedMachine

PROGRAM = sys.argv[1]
SECRET_PATH, SECRET_TOKEN = "/hooks/T0P/" + "s3cretpath", "t0k" + "ensecret"


class Receiver:
    """Answers with the statuses of a list, then 200; keeps what it took."""

    def __init__(self, statuses=(), port=0):
        self.statuses = list(statuses)
        self.messages, self.tries, self.tokens = [], 0, set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.tries += 1
                receiver.tokens.add(self.headers.get("Authorization"))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                if status == 200:
                    receiver.messages.append(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Watch:
    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        """(exit status, standard output, standard error)"""
        self.process.send_signal(signal.SIGTERM)
        try:
            output, errors = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, errors = self.process.communicate()
        return self.process.returncode, output, errors


def wait_for(condition, seconds=40):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.1)
    return False


def text_of(path):
    return path.read_text() if path.exists() else ""


def on_simulated_gpus(faults):
    """Heat comes and goes; an XID comes and is forgotten. The webhook fails twice before it takes the first message."""
    receiver = Receiver(statuses=[500, 503])
    with SimulatedMachine(PROGRAM, "h100x2") as machine:
        folder = pathlib.Path(machine.folder.name)
        metrics, token = folder / "faults.prom", folder / "token"
        token.write_text(SECRET_TOKEN + "\n")
        watch = Watch(machine.command("--watch", "--interval", "1", "--window", "0.2", "--remember", "4", "--json", "--faults-file",
                                      str(metrics), "--webhook", f"http://127.0.0.1:{receiver.port}{SECRET_PATH}",
                                      "--webhook-token-file", str(token)), machine.environment)
        try:
            if not wait_for(lambda: "pagoda_fault_stories" in text_of(metrics)):
                faults.append("no faults file")
            if "pagoda_fault{" in text_of(metrics):
                faults.append(f"a healthy machine has faults: {text_of(metrics)}")
            machine.simulate("--set", "1.temperature.gpu=91")
            if not wait_for(lambda: 'pagoda_fault{id="margin-used-up",gpu="0000:' in text_of(metrics)):
                faults.append(f"heat is not in the faults file: {text_of(metrics)}")
            machine.simulate("--clear")
            machine.simulate("--xid", "0:48")
            if not wait_for(lambda: 'id="xid-48"' in text_of(metrics)):
                faults.append(f"the XID is not in the faults file: {text_of(metrics)}")
            if not wait_for(lambda: "pagoda_fault{" not in text_of(metrics)):
                faults.append(f"faults do not clear: {text_of(metrics)}")
            if not wait_for(lambda: len(receiver.messages) >= 4):
                faults.append(f"the webhook got {receiver.messages}")
        finally:
            status, output, errors = watch.end()
    receiver.close()
    told = [json.loads(line) for line in output.splitlines()]
    events = [(each["event"], each["story"]["findings"][0]["id"]) for each in told]
    expected = {("appeared", "margin-used-up"), ("cleared", "margin-used-up"), ("appeared", "xid-48"), ("cleared", "xid-48")}
    if status != 0 or set(events) != expected or len(events) != 4:
        faults.append(f"exit {status}, told {events}")
    if receiver.messages != told:
        faults.append("the webhook's messages are not the printed ones, in their order")
    if receiver.tries != len(told) + 2 or receiver.tokens != {"Bearer " + SECRET_TOKEN}:
        faults.append(f"{receiver.tries} tries, tokens {receiver.tokens}")
    for secret in (SECRET_PATH, SECRET_TOKEN):
        if secret in errors + output:
            faults.append(f"a secret was logged: {errors}")
    if "status 500" not in errors or "status 503" not in errors:
        faults.append(f"failed tries are not logged: {errors}")


def on_a_kernel_log(faults):
    """A laid-out machine whose kernel log grows; the receiver comes up only later."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name) / "root"
        for folder in ("proc", "dev", "sys"):
            (root / folder).mkdir(parents=True)
        log = root / "dev/kmsg"
        log.write_text("6,1,100000,-;Linux version 6.1.0\n")
        metrics = pathlib.Path(name) / "new/folder/faults.prom"
        probe = Receiver()
        port = probe.port
        probe.close()
        watch = Watch([PROGRAM, "doctor", "--watch", "--root", str(root), "--interval", "600", "--faults-file", str(metrics),
                       "--webhook", f"http://127.0.0.1:{port}/"])
        receiver = None
        try:
            wait_for(lambda: metrics.exists())
            with log.open("a") as out:
                out.write("4,2,8123104511,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
                          "off the bus.\n SUBSYSTEM=pci\n")
            # At once, long before the interval ends.
            if not wait_for(lambda: 'id="xid-79",gpu="0000:3b:00"' in text_of(metrics), 20):
                faults.append(f"the XID is not in the faults file: {text_of(metrics)}")
            receiver = Receiver(port=port)
            if not wait_for(lambda: receiver.messages, 30):
                faults.append("a receiver that came up later got nothing")
        finally:
            status, output, errors = watch.end()
            if receiver:
                receiver.close()
    if status != 0 or "appeared fault" not in output or "fell off the bus" not in output:
        faults.append(f"exit {status}: {output}{errors}")
    if receiver and receiver.messages and receiver.messages[0]["story"]["drain"] is not True:
        faults.append(f"message {receiver.messages}")


def refusals(faults):
    """A receiver that says 403 is not asked again; wrong calls are one sentence, without the address."""
    receiver = Receiver(statuses=[403] * 50)
    with SimulatedMachine(PROGRAM, "remap-failure") as machine:
        watch = Watch(machine.command("--watch", "--interval", "1", "--window", "0.1", "--webhook",
                                      f"http://127.0.0.1:{receiver.port}/"), machine.environment)
        wait_for(lambda: receiver.tries >= 1)
        time.sleep(2.5)
        status, output, errors = watch.end()
    receiver.close()
    if status != 0 or receiver.tries != 1 or "status 403" not in errors:
        faults.append(f"403: {receiver.tries} tries, exit {status}, {errors}")
    calls = [(["--watch", "--webhook", "ftp://user:" + SECRET_TOKEN + "@x/"], "no http:// or https:// address"),
             (["--watch", "--from", "/tmp"], "takes no --from"), (["--interval", "5"], "belongs to --watch"),
             (["--watch", "--interval", "0"], "interval"),
             (["--watch", "--faults-file", "/proc/nowhere/faults.prom"], "/proc/nowhere"),
             (["--watch", "--webhook", "http://127.0.0.1:1/", "--webhook-token-file", "/nowhere/token"], "/nowhere/token")]
    for words, says in calls:
        done = subprocess.run([PROGRAM, "doctor", "--window", "0", *words], capture_output=True, text=True, timeout=60,
                              env={key: value for key, value in os.environ.items() if key != "PAGODA_SIMULATE"})
        if done.returncode != 3 or says not in done.stderr or SECRET_TOKEN in done.stderr:
            faults.append(f"{words}: exit {done.returncode}, {done.stderr}")


def main():
    faults = []
    for test in (on_simulated_gpus, on_a_kernel_log, refusals):
        test(faults)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else "ok: appears, clears, is written, is posted")
    sys.exit(1 if faults else 0)


main()
