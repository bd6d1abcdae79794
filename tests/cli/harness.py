"""What the command line tests share: running the tool, making pictures, counting."""
import array
import os
import subprocess
import sys
import tempfile
import traceback


class Skip(Exception):
    """The machine lacks what a test needs."""


TESTS = []


def test(function):
    """Register a test: a function of a Box."""
    TESTS.append(function)
    return function


class Result:
    def __init__(self, code, out, err):
        self.code, self.raw, self.err = code, out, err.decode('utf-8', 'replace')

    @property
    def out(self):
        return self.raw.decode('utf-8', 'replace')


class Box:
    """A folder of one test, and the tool to try there."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *args, env=None, stdin=b'', preexec=None, stdout=subprocess.PIPE):
        # threads that wait do not spin: test machines are often crowded
        full = {'OMP_WAIT_POLICY': 'passive', **os.environ, **(env or {})}
        done = subprocess.run([self.tool, *args], cwd=self.folder, env=full, input=stdin, stdout=stdout,
                              stderr=subprocess.PIPE, preexec_fn=preexec, timeout=60, check=False)
        return Result(done.returncode, done.stdout or b'', done.stderr)

    def expect(self, code, *args, says='', **options):
        """Run, and require an exit code and a piece of the messages."""
        r = self.run(*args, **options)
        assert r.code == code, f'{args}: exit {r.code}, not {code}; stderr: {r.err}'
        assert says in r.err, f'{args}: {says!r} is not in: {r.err}'
        if code not in (0, 6):
            first = r.err.splitlines()[0] if r.err else ''
            assert first.startswith('gpufilter: '), f'{args}: first line of stderr: {first!r}'
            assert 'gpufilter: error: ' in r.err, f'{args}: no error line in: {r.err}'
        return r

    def write(self, name, data):
        with open(self.path(name), 'wb') as f:
            f.write(data)
        return name

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def files(self):
        return sorted(os.listdir(self.folder))


def noise(count, top, seed=1):
    values = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        values.append((seed >> 8) % (top + 1))
    return values


def pgm(width, height, values, maxval=255):
    head = b'P5\n%d %d\n%d\n' % (width, height, maxval)
    if maxval < 256:
        return head + bytes(values)
    return head + b''.join(v.to_bytes(2, 'big') for v in values)


def pgm_values(data):
    """Width, height, maxval and pixels of a P5 file as the tool writes it."""
    fields, at = [], 2
    while len(fields) < 3:
        while data[at:at + 1].isspace():
            at += 1
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        fields.append(int(data[at:end]))
        at = end
    at += 1
    width, height, maxval = fields
    body = data[at:]
    if maxval < 256:
        return width, height, maxval, list(body)
    return width, height, maxval, [body[i] * 256 + body[i + 1] for i in range(0, len(body), 2)]


def pfm(width, height, values):
    """Rows from top to bottom are given; the file holds them the other way round."""
    rows = [values[y * width:(y + 1) * width] for y in range(height)]
    body = array.array('f', [v for row in reversed(rows) for v in row])
    if sys.byteorder == 'big':
        body.byteswap()
    return b'Pf\n%d %d\n-1.0\n' % (width, height) + body.tobytes()


def sample_u8(box, name='in.pgm', width=16, height=12):
    return box.write(name, pgm(width, height, noise(width * height, 255)))


def sample_u16(box, name='in16.pgm', width=16, height=12):
    return box.write(name, pgm(width, height, noise(width * height, 65535), 65535))


def sample_f32(box, name='in.pfm', width=16, height=12):
    return box.write(name, pfm(width, height, [v / 1000 for v in noise(width * height, 1000)]))


def main(tool, only):
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    for function in TESTS:
        if only and only not in function.__name__:
            continue
        with tempfile.TemporaryDirectory(prefix='gpufilter-cli-') as folder:
            try:
                function(Box(tool, folder))
                outcome, note = 'passed', ''
            except Skip as why:
                outcome, note = 'skipped', f': {why}'
            except Exception as fault:  # pylint: disable=broad-except
                where = traceback.extract_tb(fault.__traceback__)[-1]
                origin = next((f for f in reversed(traceback.extract_tb(fault.__traceback__))
                               if not f.filename.endswith('harness.py')), where)
                outcome, note = 'failed', f': {fault} ({os.path.basename(origin.filename)}:{origin.lineno})'
        counts[outcome] += 1
        if outcome != 'passed':
            print(f'{outcome}: {function.__name__}{note}')
    print(', '.join(f'{counts[k]} {k}' for k in ('passed', 'failed', 'skipped')))
    return 1 if counts['failed'] else 0
