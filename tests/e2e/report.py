"""Counts checks; prints each failure and, at the end, `N passed, N failed`."""
import sys
import traceback


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, test, *arguments):
        """Runs test(*arguments): an exception is the failure, what it returns is a remark."""
        try:
            remark = test(*arguments)
        except Exception as error:  # whatever goes wrong is this check's failure, the others go on
            self.failed += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            print(f"FAILED {name}: {type(error).__name__}: {str(error)[:500]} (line {place.lineno})", flush=True)
            return
        self.passed += 1
        print(f"ok {name}" + (f": {remark}" if remark else ""), flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def expect(condition, message):
    """assert that python -O does not remove."""
    if not condition:
        raise AssertionError(message)
