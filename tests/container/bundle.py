"""An OCI bundle for the tests, and a run of it through `pagoda container-runtime`."""
import json
import os
import pathlib
import subprocess
import uuid


class Bundle:
    def __init__(self, folder, rootfs, program, driver_root):
        self.folder = pathlib.Path(folder)
        self.environment = {"PATH": os.environ["PATH"]}  # of the runtime
        self.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["runc", "spec", "--bundle", str(self.folder)], check=True)
        self.config = json.loads((self.folder / "config.json").read_text())
        self.config["process"]["terminal"] = False
        self.config["root"] = {"path": str(rootfs), "readonly": False}
        self.config["process"]["env"] = ["PATH=/usr/bin:/bin"]
        # One that may make nodes, so that only the device rules stand in its way.
        for kind in self.config["process"]["capabilities"].values():
            kind.append("CAP_MKNOD")
        self.link = self.folder / "nvidia-container-runtime"
        self.link.symlink_to(os.path.abspath(program))
        settings = self.folder / "settings/nvidia-container-runtime"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(f'[nvidia-container-cli]\nroot = "{driver_root}"\n')

    def set_environment(self, **variables):
        self.config["process"]["env"] += [f"{name}={value}" for name, value in variables.items()]

    def write(self):
        (self.folder / "config.json").write_text(json.dumps(self.config))

    def edited(self):
        return json.loads((self.folder / "config.json").read_text())

    def run(self, *command, log=None):
        self.config["process"]["args"] = list(command)
        self.write()
        words = [str(self.link)]
        if log is not None:
            words += ["--log", str(log), "--log-format", "json"]
        words += ["run", "--bundle", str(self.folder), f"pagoda-test-{uuid.uuid4().hex[:12]}"]
        environment = {**self.environment, "XDG_CONFIG_HOME": str(self.folder / "settings")}
        return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)


def why_no_containers():
    """A sentence where this machine cannot start containers, else None."""
    if os.geteuid() != 0:
        return "containers are started by root only"
    for program in ("runc", "cc", "busybox"):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"{program} is not installed"
    try_out = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True)
    return None if try_out.returncode == 0 else f"no namespaces here: {try_out.stderr.strip()}"
