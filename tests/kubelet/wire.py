"""The kubelet's messages on the wire, coded here by the published field numbers, so that ours are not checked against themselves.

A schema maps a field's number to its name and kind: "text", "number" (varint), another schema, or a list of one of these.
A map<string, string> is a list of PAIR.
"""

PAIR = {1: ("key", "text"), 2: ("value", "text")}
EMPTY = {}

# k8s.io/kubelet, pkg/apis/deviceplugin/v1beta1
PLUGIN_OPTIONS = {1: ("pre_start_required", "number"), 2: ("get_preferred_allocation_available", "number")}
REGISTER_REQUEST = {1: ("version", "text"), 2: ("endpoint", "text"), 3: ("resource_name", "text"), 4: ("options", PLUGIN_OPTIONS)}
TOPOLOGY = {1: ("nodes", [{1: ("ID", "number")}])}
DEVICE = {1: ("ID", "text"), 2: ("health", "text"), 3: ("topology", TOPOLOGY)}
LIST_AND_WATCH_RESPONSE = {1: ("devices", [DEVICE])}
ALLOCATE_REQUEST = {1: ("container_requests", [{1: ("devices_ids", ["text"])}])}
CONTAINER_ALLOCATE_RESPONSE = {1: ("envs", [PAIR]), 2: ("mounts", [EMPTY]), 3: ("devices", [EMPTY]), 4: ("annotations", [PAIR]),
                               5: ("cdi_devices", [{1: ("name", "text")}])}
ALLOCATE_RESPONSE = {1: ("container_responses", [CONTAINER_ALLOCATE_RESPONSE])}
PREFERRED_REQUEST = {1: ("container_requests", [{1: ("available_deviceIDs", ["text"]), 2: ("must_include_deviceIDs", ["text"]),
                                                 3: ("allocation_size", "number")}])}
PREFERRED_RESPONSE = {1: ("container_responses", [{1: ("deviceIDs", ["text"])}])}

# k8s.io/kubelet, pkg/apis/podresources/v1, with fields that the program does not know
CONTAINER_DEVICES = {1: ("resource_name", "text"), 2: ("device_ids", ["text"]), 3: ("topology", TOPOLOGY)}
CONTAINER_RESOURCES = {1: ("name", "text"), 2: ("devices", [CONTAINER_DEVICES]), 3: ("cpu_ids", "number"), 4: ("memory", [EMPTY])}
POD_RESOURCES = {1: ("name", "text"), 2: ("namespace", "text"), 3: ("containers", [CONTAINER_RESOURCES])}
LIST_PODS_RESPONSE = {1: ("pod_resources", [POD_RESOURCES])}


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def encode_field(number, kind, value):
    if kind == "number":
        return varint(number << 3) + varint(value)
    body = value.encode() if kind == "text" else encode(kind, value)
    return varint(number << 3 | 2) + varint(len(body)) + body


def encode(schema, message):
    out = b""
    for number, (name, kind) in schema.items():
        if name not in message:
            continue
        if isinstance(kind, list):
            out += b"".join(encode_field(number, kind[0], value) for value in message[name])
        else:
            out += encode_field(number, kind, message[name])
    return out


def decode(schema, data):
    """Every field of the schema is there; what the schema does not know is an error."""
    message = {name: [] if isinstance(kind, list) else None for name, kind in schema.values()}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        name, kind = schema[key >> 3]
        one = kind[0] if isinstance(kind, list) else kind
        if key & 7 == 0:
            assert one == "number", (name, "is a varint")
            value, at = read_varint(data, at)
        else:
            assert key & 7 == 2 and one != "number", (name, "wire type", key & 7)
            length, at = read_varint(data, at)
            value, at = data[at:at + length], at + length
            value = value.decode() if one == "text" else decode(one, value)
        if isinstance(kind, list):
            message[name].append(value)
        else:
            message[name] = value
    return message
