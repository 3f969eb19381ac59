"""How the texts of a capture become the numbers that NVML gave."""
import re

from capture_tables import ARCHITECTURES, BRANDS, WORDS


def is_absent(text):
    return text.strip("[]") in ("N/A", "Not Found", "Requested functionality has been deprecated", "")


class Converter:
    """One way to read a value; None where there is none."""

    @staticmethod
    def number(text):
        match = re.match(r"-?\d+", text)
        return int(match.group()) if match else None

    @staticmethod
    def hexadecimal(text):
        return int(text, 16)

    @staticmethod
    def text(text):
        return text

    @staticmethod
    def mib(text):
        return f"{Converter.number(text)} MiB"

    @staticmethod
    def milliwatts(text):
        return round(float(text.split()[0]) * 1000)

    @staticmethod
    def nanoseconds(text):
        return Converter.number(text) * 1000

    @staticmethod
    def percent(text):
        return round(float(text.rstrip(" %")))

    @staticmethod
    def state(text):
        return int(text.lstrip("P"))

    @staticmethod
    def word(text):
        return WORDS[text]

    @staticmethod
    def brand(text):
        return BRANDS[text]

    @staticmethod
    def architecture(text):
        return ARCHITECTURES[text]

    @staticmethod
    def atomics(text):
        names = ["FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128"]
        return sum(1 << names.index(name) for name in text.split())


def convert(how, text):
    return None if is_absent(text) else getattr(Converter, how)(text)
