"""`pagoda exporter --kubernetes` against a kubelet's pod-resources socket: pods_test.py PAGODA LIBRARY (pagoda-grpc beside it)"""
import pathlib
import sys
import tempfile

try:
    import grpc  # noqa: F401
except ImportError:
    print("skipped: the Python package grpcio is not installed (tests/requirements.txt)")
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "kubelet"))
import fake_kubelet
import wire
from exporter_process import Exporter

PAGODA, LIBRARY = sys.argv[1:3]


def pod(name, *devices, resource="nvidia.com/gpu"):
    return {"name": name, "namespace": "ml", "containers": [{"name": "main", "devices": [{"resource_name": resource, "device_ids": devices}]}]}


def labels_of(exporter, gpu):
    return sorted((labels.get("namespace"), labels.get("container"), labels.get("pod")) for labels, _ in exporter.samples("DCGM_FI_DEV_GPU_TEMP", gpu=gpu))


def main():
    pods = []
    with tempfile.TemporaryDirectory() as folder:
        socket = pathlib.Path(folder) / "kubelet.sock"
        flags = ["-c", "300", "--kubernetes", "--pod-resources-kubelet-socket", str(socket), "--nvidia-resource-names", "example.com/a100"]
        with Exporter(PAGODA, LIBRARY, "h100x3", flags) as exporter:
            assert labels_of(exporter, "0") == [(None, None, None)]  # no kubelet yet: series without pods
            uuids = [exporter.samples("pagoda_gpu_up", gpu=str(gpu))[0][0]["UUID"] for gpu in range(3)]
            pods += [pod("train-0", uuids[0]), pod("share-a", uuids[1] + "::0"), pod("share-b", uuids[1] + "::1"),
                     pod("other-name", uuids[2], resource="example.com/a100"), pod("nic", uuids[2], resource="example.com/nic")]
            server = fake_kubelet.serve(socket, "v1.PodResourcesLister",
                                        {"List": lambda data, context: wire.encode(wire.LIST_PODS_RESPONSE, {"pod_resources": pods})})
            try:
                exporter.wait_for(lambda: labels_of(exporter, "0") == [("ml", "main", "train-0")], "the pod")
                assert labels_of(exporter, "1") == [("ml", "main", "share-a"), ("ml", "main", "share-b")]
                assert labels_of(exporter, "2") == [("ml", "main", "other-name")]
                del pods[0]
                exporter.wait_for(lambda: labels_of(exporter, "0") == [(None, None, None)], "the pod's end")
            finally:
                server.stop(0).wait()
            exporter.wait_for(lambda: labels_of(exporter, "1") == [(None, None, None)], "the kubelet's end")
        print("pods come, share, and go, as the kubelet tells")


if __name__ == "__main__":
    main()
