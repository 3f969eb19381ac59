"""docs/faults.md is what the program's tables say. To make it anew: pagoda doctor --catalogue > docs/faults.md"""
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "faults.md"


def main():
    made = subprocess.run([sys.argv[1], "doctor", "--catalogue"], capture_output=True, check=True).stdout.decode()
    if PAGE.read_text() != made:
        print("docs/faults.md is not current: pagoda doctor --catalogue > docs/faults.md")
        sys.exit(1)
    print(f"ok: {made.count(chr(10))} lines")


main()
