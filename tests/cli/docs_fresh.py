#!/usr/bin/env python3
"""docs_fresh.py GENDOCS SOURCE_ROOT: the generated pages in the tree are those of today's filters."""
import filecmp
import os
import subprocess
import sys
import tempfile


def files_below(root):
    found = set()
    for folder, _, names in os.walk(root):
        found.update(os.path.relpath(os.path.join(folder, n), root) for n in names)
    return found


def main():
    gendocs, source = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([gendocs, fresh], check=True)
        wanted = files_below(fresh)
        pages = files_below(os.path.join(source, 'docs', 'filters'))
        have = wanted | {os.path.join('docs', 'filters', n) for n in pages}
        stale = []
        for name in sorted(have):
            a, b = os.path.join(fresh, name), os.path.join(source, name)
            if not (os.path.exists(a) and os.path.exists(b) and filecmp.cmp(a, b, shallow=False)):
                stale.append(name)
                print('stale:', name, '(run `ninja docs`)')
        print(f'{len(have) - len(stale)} passed, {len(stale)} failed, 0 skipped')
        return 1 if stale else 0


sys.exit(main())
