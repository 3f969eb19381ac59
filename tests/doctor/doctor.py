"""Runs `pagoda doctor` for a test and reads its report."""
import json
import subprocess

EXIT = {"none": 0, "note": 0, "warning": 1, "fault": 2}


def examine(program, *paths, stdin=None, flags=()):
    """The JSON report; its exit status must fit its severity."""
    command = [program, "doctor", "--json", *flags]
    for path in paths:
        command += ["--from", str(path)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60)
    if done.stderr:
        raise AssertionError(f"{command}: {done.stderr.decode(errors='replace')}")
    report = json.loads(done.stdout)
    assert done.returncode == EXIT[report["severity"]], (done.returncode, report["severity"])
    return report


def faults_of(report, verdict):
    """What of the right verdict the report lacks, as sentences."""
    faults = []
    if report["severity"] != verdict["severity"]:
        faults.append(f"severity {report['severity']}, not {verdict['severity']}")
    if len(report["stories"]) != verdict["stories"]:
        faults.append(f"{len(report['stories'])} stories: {[s['cause'] for s in report['stories']]}")
    seen = " ".join(f"{o['subject']} {o['text']}" for o in report["observations"])
    faults += [f"not seen: {text} (but {seen})" for text in verdict.get("seen", []) if text not in seen]
    if not report["stories"]:
        return faults
    story = report["stories"][0]
    if "root" in verdict and story["findings"][0]["id"] != verdict["root"]:
        faults.append(f"root {story['findings'][0]['id']}, not {verdict['root']}")
    actions = " | ".join(a["text"] for a in story["actions"])
    faults += [f"cause lacks '{text}': {story['cause']}" for text in verdict.get("cause", []) if text not in story["cause"]]
    faults += [f"actions lack '{text}': {actions}" for text in verdict.get("actions", []) if text not in actions]
    faults += [f"actions hold '{text}': {actions}" for text in verdict.get("not_actions", []) if text in actions]
    for name in ("gpu", "drain"):
        if name in verdict and story[name] != verdict[name]:
            faults.append(f"{name} is {story[name]}, not {verdict[name]}")
    for finding in story["findings"]:
        if not finding["evidence"]:
            faults.append(f"{finding['id']} has no evidence")
    return faults
