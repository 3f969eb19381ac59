"""Reads the tokenizer.* keys of a GGUF file, with nothing but Python itself."""
import struct

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9


class Reader:
    def __init__(self, file):
        self.file = file

    def scalar(self, layout):
        return struct.unpack(layout, self.file.read(struct.calcsize(layout)))[0]

    def text(self):
        return self.file.read(self.scalar("<Q"))

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            item, count = self.scalar("<I"), self.scalar("<Q")
            if item in (STRING, ARRAY):
                return [self.value(item) for _ in range(count)]
            layout = SCALARS[item]
            size = struct.calcsize(layout) * count
            return list(struct.unpack(f"<{count}{layout[1:]}", self.file.read(size)))
        return self.scalar(SCALARS[kind])


def read(path):
    """{key: value}; strings as str where they are UTF-8, else bytes."""
    with open(path, "rb") as file:
        reader = Reader(file)
        if file.read(4) != b"GGUF":
            raise ValueError(f"{path}: not a GGUF file")
        reader.scalar("<I")
        reader.scalar("<Q")
        keys = reader.scalar("<Q")
        values = {}
        for _ in range(keys):
            key = reader.text().decode()
            value = reader.value(reader.scalar("<I"))
            if key.startswith("tokenizer.") or key.startswith("general."):
                values[key] = as_text(value)
        return values


def as_text(value):
    if isinstance(value, list):
        return [as_text(item) for item in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value
