"""A real control plane of its own for scripts/soak."""

import os
import pathlib
import signal
import subprocess

from embedded import ROOT, fail


class RealCluster:
    """Started by scripts/cluster, with the programs that are already built."""

    def __init__(self, folder: pathlib.Path):
        own = os.environ.get("MINISCHED_CLUSTER_DIR", str(ROOT / ".cluster"))
        built = pathlib.Path(own) / "bin"
        built.mkdir(parents=True, exist_ok=True)
        self.directory = folder / "cluster"
        self.directory.mkdir(mode=0o700)
        (self.directory / "bin").symlink_to(built.resolve())
        self.kubeconfig = self.directory / "kubeconfig"
        try:
            self.cluster("up")
        except BaseException:
            self.stop()
            raise

    def cluster(self, command: str) -> None:
        """Runs scripts/cluster, which leaves alone what runs already."""
        done = subprocess.run(
            [ROOT / "scripts" / "cluster", command, "real"],
            env=os.environ | {"MINISCHED_CLUSTER_DIR": str(self.directory)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        if done.returncode:
            fail(f"scripts/cluster {command} failed: {done.stdout.strip()}")

    def kill_apiserver(self) -> None:
        """Kills kube-apiserver without warning, and starts it again."""
        pid = (self.directory / "run" / "kube-apiserver.pid").read_text("ascii")
        os.kill(int(pid), signal.SIGKILL)
        self.cluster("up")

    def stop(self) -> None:
        self.cluster("down")
