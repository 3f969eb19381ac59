"""The kubelet's side of its two protocols, on unix sockets, as the kubelet plays it."""
import concurrent.futures
import os
import queue
import threading

import grpc

import wire

PLUGIN = "/v1beta1.DevicePlugin/"


class Plugin:
    """The kubelet's connection to one registered plugin."""

    def __init__(self, folder, request):
        self.request = request
        self.channel = grpc.insecure_channel(f"unix:{folder}/{request['endpoint']}")
        self.lists = queue.Queue()
        self.options = self.call("GetDevicePluginOptions", wire.EMPTY, wire.PLUGIN_OPTIONS, {})
        self.stream = self.channel.unary_stream(PLUGIN + "ListAndWatch")(b"")
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        try:
            for data in self.stream:
                self.lists.put(wire.decode(wire.LIST_AND_WATCH_RESPONSE, data)["devices"])
        except grpc.RpcError:
            pass
        self.lists.put(None)  # the stream has ended

    def call(self, method, request_schema, response_schema, message):
        data = self.channel.unary_unary(PLUGIN + method)(wire.encode(request_schema, message), timeout=10)
        return wire.decode(response_schema, data)

    def devices(self, timeout=10):
        """The next list: id → (health, NUMA nodes)."""
        rows = self.lists.get(timeout=timeout)
        return rows and {row["ID"]: (row["health"], [node["ID"] for node in (row["topology"] or {"nodes": []})["nodes"]]) for row in rows}

    def allocate(self, *containers):
        answer = self.call("Allocate", wire.ALLOCATE_REQUEST, wire.ALLOCATE_RESPONSE,
                           {"container_requests": [{"devices_ids": list(ids)} for ids in containers]})
        return [{"cdi": [device["name"] for device in row["cdi_devices"]], "envs": {p["key"]: p["value"] for p in row["envs"]},
                 "annotations": {p["key"]: p["value"] for p in row["annotations"]}} for row in answer["container_responses"]]

    def preferred(self, available, must, size):
        answer = self.call("GetPreferredAllocation", wire.PREFERRED_REQUEST, wire.PREFERRED_RESPONSE,
                           {"container_requests": [{"available_deviceIDs": available, "must_include_deviceIDs": must, "allocation_size": size}]})
        return answer["container_responses"][0]["deviceIDs"]

    def close(self):
        self.stream.cancel()
        self.channel.close()


def serve(socket, service, methods):
    handlers = {name: grpc.unary_unary_rpc_method_handler(function) for name, function in methods.items()}
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    return server


class Kubelet:
    def __init__(self, folder, refuse=None):
        """Empties the folder first, as the kubelet does when it starts."""
        self.folder, self.refuse = folder, refuse
        for name in os.listdir(folder):
            os.unlink(folder / name)
        self.registered = queue.Queue()
        self.plugins = []
        self.server = serve(folder / "kubelet.sock", "v1beta1.Registration", {"Register": self.register})

    def register(self, data, context):
        request = wire.decode(wire.REGISTER_REQUEST, data)
        if self.refuse:
            context.abort(grpc.StatusCode.UNKNOWN, self.refuse)
        self.registered.put(request)
        return b""

    def plugin(self, timeout=15):
        """The next plugin that registers, connected to."""
        plugin = Plugin(self.folder, self.registered.get(timeout=timeout))
        self.plugins.append(plugin)
        return plugin

    def stop(self):
        for plugin in self.plugins:
            plugin.close()
        self.server.stop(0).wait()
