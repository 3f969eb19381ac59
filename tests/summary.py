"""Reads ctest's results: counts, names each skipped test with its reason, and fails on a skip that is not listed.

usage: summary.py RESULTS.xml SKIPS.txt
The last line is `N passed, M failed`.
"""
import fnmatch
import re
import sys
import xml.etree.ElementTree

REASON = re.compile(r"^\s*(?:skipped:|SKIPPED:?|.*: Skipped)\s*(.*)$", re.IGNORECASE | re.MULTILINE)


def allowed_skips(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split("#")[0].strip() for line in file]
    return [row for row in rows if row]


def reason_of(case):
    """What the test printed about its skip: 'skipped: …' of a script, the line after GoogleTest's 'Skipped'."""
    output = case.findtext("system-out") or ""
    match = REASON.search(output)
    if match is None:
        return "no reason printed"
    if match.group(1).strip():
        return match.group(1).strip()
    rest = output[match.end():].strip().splitlines()
    return rest[0].strip() if rest else "no reason printed"


def main():
    cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    allowed = allowed_skips(sys.argv[2])
    by_status = {"run": [], "fail": [], "notrun": [], "disabled": []}
    for case in cases:
        by_status[case.get("status")].append(case)
    failed = [case.get("name") for case in by_status["fail"]]
    print()
    for case in by_status["notrun"] + by_status["disabled"]:
        name = case.get("name")
        listed = any(fnmatch.fnmatch(name, pattern) for pattern in allowed)
        print(f"skipped: {name}: {reason_of(case)}" + ("" if listed else " [not listed in tests/skips.txt]"))
        if not listed:
            failed.append(name)
    for name in failed:
        print(f"failed: {name}")
    if not cases:
        print("no test ran")
    slowest = sorted(cases, key=lambda case: -float(case.get("time") or 0))[:5]
    print("slowest: " + ", ".join(f"{case.get('name')} {float(case.get('time') or 0):.1f} s" for case in slowest))
    print(f"{len(by_status['run'])} passed, {len(failed)} failed")
    sys.exit(1 if failed or not cases else 0)


main()
