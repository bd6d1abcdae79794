"""Turn meson's testlog.json into lines "NAME passed|failed|skipped COUNT".

Programs that close with "N passed, N failed, N skipped", or with Check's "Checks: N, Failures: N,
Errors: N", count as what they count; others as one.
"""
import json
import re
import sys

OURS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.M)


def counts(test):
    text, result = test.get("stdout", ""), test["result"]
    ours, check = OURS.findall(text), CHECK.findall(text)
    if ours:
        passed, failed, skipped = map(int, ours[-1])
    elif check:
        failed = sum(int(f) + int(e) for _, f, e in check)
        passed, skipped = sum(int(n) for n, _, _ in check) - failed, 0
    else:
        passed, failed, skipped = int(result == "OK"), 0, int(result == "SKIP")
    if result not in ("OK", "SKIP", "EXPECTEDFAIL") and not failed:
        failed = 1
    return {"passed": passed, "failed": failed, "skipped": skipped}


def main():
    log, where = sys.argv[1:]
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            test = json.loads(line)
            name = where + "/" + test["name"].replace(" ", "_")
            for what, n in counts(test).items():
                if n:
                    print(name, what, n)


main()
