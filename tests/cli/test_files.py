"""Inputs and outputs: streams, bad files, full disks, links, modes, names."""
import os
import resource
import signal
import stat
import subprocess
import time

from harness import Skip, pfm, pgm, pgm_values, sample_f32, sample_u16, sample_u8, test


@test
def values_pass_unchanged(box):
    for name in (sample_u8(box), sample_u16(box), sample_f32(box)):
        out = 'out' + name[name.index('.'):]
        box.expect(0, 'abs', name, out)
        assert box.read(out) == box.read(name), name


@test
def sixteen_bits_survive_png(box):
    box.write('in.pgm', pgm(2, 1, [0x0102, 0xfffe], 65535))
    box.expect(0, 'abs', 'in.pgm', 'a.png')
    box.expect(0, 'abs', 'a.png', 'b.pgm')
    assert pgm_values(box.read('b.pgm')) == (2, 1, 65535, [0x0102, 0xfffe])


@test
def twelve_bit_values_stay_as_stored(box):
    values = [0, 1, 2047, 4095]
    box.write('in.pgm', pgm(4, 1, values, 4095))
    r = box.expect(0, 'abs', 'in.pgm', 'out.pgm', says='notice')
    assert '4095' in r.err
    assert pgm_values(box.read('out.pgm'))[3] == values
    r = box.expect(0, 'abs', 'in.pgm', 'out.pgm', '-q')
    assert not r.err


@test
def standard_streams(box):
    sample_u8(box)
    data = box.read('in.pgm')
    r = box.expect(0, 'abs', '-', '-', '--format', 'pgm', stdin=data)
    assert r.raw == data and not r.err
    r = box.expect(0, 'abs', 'in.pgm', '-', '--format', 'pgm', '--timings', '--explain')
    assert r.raw == data and 'decode' in r.err and 'stage 1' in r.err
    box.expect(0, 'abs', '-', 'out.pgm', stdin=data)
    assert box.read('out.pgm') == data
    before = box.files()
    box.expect(2, 'abs', 'in.pgm', '-', says='--format')
    box.expect(2, 'abs', 'in.pgm', '-', '--format', 'pgm', '--json', says='--json')
    box.expect(2, 'abs', '-', '-o', 'dir', stdin=data, says='standard input')
    box.expect(3, 'abs', '-', 'x.pgm', stdin=b'')
    box.expect(3, 'abs', '-', 'x.pgm', stdin=data[:-1], says='truncated')
    assert box.files() == before


BAD = {
    'missing.pgm': None,
    'empty.pgm': b'',
    'text.png': b'hello, this is no picture\n' * 4,
    'half.pgm': b'P5\n100 100\n255\n' + bytes(5000),
    'liar.pgm': b'P5\n40000 50000\n255\nabcd',
    'zero.pgm': b'P5\n0 5\n255\n',
    'huge.pgm': b'P5\n99999999999 1\n255\n',
    'tiff.tif': b'II*\0\x08\0\0\0' + bytes(64),
    'gif.gif': b'GIF89a' + bytes(64),
    'png.png': b'\x89PNG\r\n\x1a\n' + bytes(20),
    'jpeg.jpg': b'\xff\xd8\xff\xe0\0\x10JFIF\0' + bytes(10),
}


@test
def bad_inputs(box):
    for name, data in BAD.items():
        if data is not None:
            box.write(name, data)
        before = box.files()
        box.expect(3, 'abs', name, 'out.png', says=name)
        box.expect(3, 'info', name, says=name)
        box.expect(3, 'compare', name, name, says=name)
        assert box.files() == before, name
    os.mkdir(box.path('folder.pgm'))
    box.expect(3, 'abs', 'folder.pgm', 'out.png', says='folder.pgm')
    if os.geteuid():
        box.write('secret.pgm', b'')
        os.chmod(box.path('secret.pgm'), 0)
        box.expect(3, 'abs', 'secret.pgm', 'out.png', says='secret.pgm')


@test
def lying_header_needs_little_memory(box):
    box.write('liar.pgm', b'P5\n40000 50000\n255\nabcd')

    def small():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    if box.run('--version', preexec=small).code:
        raise Skip('the tool does not even start in 1 GiB (a sanitizer build)')
    box.expect(3, 'abs', 'liar.pgm', 'out.pgm', preexec=small, says='truncated')


@test
def pixel_limit(box):
    sample_u8(box)
    r = box.expect(3, 'abs', 'in.pgm', 'out.pgm', '--max-pixels', '191', says='--max-pixels')
    assert '192' in r.err and '191' in r.err
    box.expect(0, 'abs', 'in.pgm', 'out.pgm', '--max-pixels', '192')


@test
def bad_outputs(box):
    sample_u8(box)
    before = box.files()
    box.expect(4, 'abs', 'in.pgm', 'no/such/folder/out.pgm', says='no/such/folder')
    box.expect(4, 'abs', 'in.pgm', 'out.xyz', says='out.xyz')
    box.expect(4, 'abs', 'in.pgm', 'out', says='out')
    os.mkdir(box.path('folder.pgm'))
    box.expect(4, 'abs', 'in.pgm', 'folder.pgm', says='folder.pgm')
    assert box.files() == sorted(before + ['folder.pgm'])
    box.expect(4, 'abs', 'missing.pgm', 'out.xyz')  # found before the input is opened


@test
def pixel_types_that_do_not_fit(box):
    sample_u16(box)
    sample_f32(box)
    before = box.files()
    for out in ('out.jpg', 'out.bmp'):
        box.expect(4, 'abs', 'in16.pgm', out, says='--depth')
    for out in ('out.png', 'out.pgm', 'out.jpg'):
        box.expect(4, 'abs', 'in.pfm', out, says='--depth')
    box.expect(4, 'abs', 'in.pfm', 'x.pfm', '--depth', 'u8', says='pfm')
    assert box.files() == before
    box.expect(0, 'abs', 'in16.pgm', 'out.bmp', '--depth', 'u8')
    box.expect(0, 'abs', 'in.pfm', 'out.png', '--depth', 'u16')


@test
def depth_rounds_half_to_even_and_clips(box):
    box.write('in.pfm', pfm(8, 1, [0.5, 1.5, 2.5, 254.5, 255.5, -3, 1e9, float('nan')]))
    box.expect(0, 'abs', 'in.pfm', 'a.pgm', '--depth', 'u8')
    assert pgm_values(box.read('a.pgm'))[3] == [0, 2, 2, 254, 255, 3, 255, 0]


@test
def float_format_keeps_what_is_not_rounded(box):
    box.write('in.pgm', pgm(2, 1, [1, 2]))
    box.expect(0, 'scale', '--factor', '0.25', 'in.pgm', 'out.pfm')
    assert box.read('out.pfm') == pfm(2, 1, [0.25, 0.5])


def limit_file_size(n_bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


@test
def full_disk(box):
    sample_u8(box, width=300, height=300)
    before = box.files()
    if os.path.exists('/dev/full'):
        box.expect(4, 'abs', 'in.pgm', '/dev/full', '--format', 'pgm', says='/dev/full')
        with open('/dev/full', 'wb') as full:
            box.expect(4, 'abs', 'in.pgm', '-', '--format', 'pgm', stdout=full)
            box.expect(4, 'list', stdout=full, says='standard output')
            box.expect(4, 'list', '--json', stdout=full, says='standard output')
    for out in ('out.pgm', 'out.png', 'out.jpg', 'out.bmp', 'out.tga', 'out.pfm'):
        box.expect(4, 'abs', 'in.pgm', out, preexec=limit_file_size(1024), says=out)
        assert box.files() == before, (out, box.files())
    box.write('old.pgm', b'precious')
    box.expect(4, 'abs', 'in.pgm', 'old.pgm', preexec=limit_file_size(1024))
    assert box.read('old.pgm') == b'precious'


@test
def closed_pipe(box):
    sample_u8(box, width=1000, height=1000)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, 'wb') as pipe:
        box.expect(4, 'abs', 'in.pgm', '-', '--format', 'pgm', stdout=pipe)


@test
def output_is_the_input(box):
    sample_u8(box)
    box.expect(0, 'invert', 'in.pgm', 'wanted.pgm')
    box.expect(0, 'invert', 'in.pgm', 'in.pgm')
    assert box.read('in.pgm') == box.read('wanted.pgm')


@test
def output_is_a_link_to_the_input(box):
    sample_u8(box)
    original = box.read('in.pgm')
    box.expect(0, 'invert', 'in.pgm', 'wanted.pgm')
    os.symlink('in.pgm', box.path('soft.pgm'))
    box.expect(0, 'invert', 'in.pgm', 'soft.pgm')
    assert os.path.islink(box.path('soft.pgm'))
    assert box.read('in.pgm') == box.read('wanted.pgm')
    box.write('in.pgm', original)
    os.link(box.path('in.pgm'), box.path('hard.pgm'))
    box.expect(0, 'invert', 'in.pgm', 'hard.pgm')
    assert box.read('hard.pgm') == box.read('wanted.pgm') and box.read('in.pgm') == original


@test
def mode_of_an_existing_file_stays(box):
    sample_u8(box)
    box.write('out.pgm', b'old')
    os.chmod(box.path('out.pgm'), 0o640)
    box.expect(0, 'abs', 'in.pgm', 'out.pgm')
    assert stat.S_IMODE(os.stat(box.path('out.pgm')).st_mode) == 0o640
    assert box.files() == ['in.pgm', 'out.pgm']


@test
def no_clobber(box):
    sample_u8(box)
    box.write('out.pgm', b'old')
    box.expect(4, 'abs', 'in.pgm', 'out.pgm', '--no-clobber', says='out.pgm')
    assert box.read('out.pgm') == b'old'
    os.symlink('nowhere', box.path('dangling.pgm'))
    box.expect(4, 'abs', 'in.pgm', 'dangling.pgm', '--no-clobber')
    box.expect(0, 'abs', 'in.pgm', 'new.pgm', '--no-clobber')
    box.expect(0, 'abs', 'in.pgm', 'out.pgm')
    assert box.read('out.pgm') == box.read('in.pgm')


@test
def strange_names(box):
    for name in ('a b.pgm', "quote'\".pgm", 'umlaut-\u00e4.pgm', 'new\nline.pgm', '=,:.pgm', '%s%n.pgm'):
        sample_u8(box, name)
        box.expect(0, 'abs', name, 'out-' + name)
        assert box.read('out-' + name) == box.read(name)
    r = box.expect(3, 'abs', 'esc\x1b[31m.pgm', 'out.pgm')
    assert '\x1b' not in r.err


@test
def pipes_as_files(box):
    sample_u8(box)
    os.mkfifo(box.path('fifo'))
    with subprocess.Popen(['cat', box.path('fifo')], stdout=subprocess.PIPE) as cat:
        box.expect(0, 'abs', 'in.pgm', 'fifo', '--format', 'pgm')
        assert cat.stdout.read() == box.read('in.pgm')
    assert stat.S_ISFIFO(os.stat(box.path('fifo')).st_mode)


@test
def signals(box):
    """While it waits for its input, and while nobody reads its output."""
    sample_u8(box, width=2000, height=200)
    os.mkfifo(box.path('in.fifo'))
    os.mkfifo(box.path('out.fifo'))
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        for args in (['in.fifo', 'out.pgm'], ['in.pgm', 'out.fifo', '--format', 'pgm']):
            with subprocess.Popen([box.tool, 'abs', *args], cwd=box.folder) as p:
                time.sleep(0.3)
                if p.poll() is not None:
                    raise Skip('the tool did not wait')
                p.send_signal(number)
                assert p.wait(10) == code, args
    assert box.files() == ['in.fifo', 'in.pgm', 'out.fifo']


@test
def interrupted_while_writing(box):
    """Whenever the signal comes, the result is whole or not there, and nothing else is left."""
    sample_u8(box, width=1500, height=1500)
    box.expect(0, 'abs', 'in.pgm', 'whole.png', '--backend', 'cpu')
    outcomes = set()
    for i in range(24):
        with subprocess.Popen([box.tool, 'abs', 'in.pgm', 'out.png', '--backend', 'cpu'], cwd=box.folder) as p:
            time.sleep(0.004 * i)
            p.send_signal(signal.SIGINT)
            outcomes.add(p.wait(20))
        if box.exists('out.png'):
            assert box.read('out.png') == box.read('whole.png')
            os.unlink(box.path('out.png'))
        assert box.files() == ['in.pgm', 'whole.png'], box.files()
    assert outcomes <= {0, 130, -signal.SIGINT}, outcomes  # before main() the default holds


@test
def info_tells(box):
    box.write('a.pgm', pgm(3, 2, [0, 1000, 1023, 4, 5, 6], 1023))
    r = box.expect(0, 'info', 'a.pgm')
    for piece in ('pgm', '3x2', '10 bits', '1 channel', 'u16', 'gray', '1023'):
        assert piece in r.out, (piece, r.out)
    assert not r.err


@test
def tune_replaces_files_only(box):
    """What stands under the name and is no regular file is written, not replaced."""
    box.write('old.tune', b'old')
    os.symlink('old.tune', box.path('link.tune'))
    box.expect(0, 'tune', 'abs', '--backend', 'cpu', '-q', '-o', 'link.tune')
    assert os.path.islink(box.path('link.tune')) and box.read('old.tune').startswith(b'gpufilter-tune')
    os.mkfifo(box.path('pipe.tune'))
    reader = os.open(box.path('pipe.tune'), os.O_RDONLY | os.O_NONBLOCK)
    try:
        box.expect(0, 'tune', 'abs', '--backend', 'cpu', '-q', '-o', 'pipe.tune')
        assert os.read(reader, 16) == b'gpufilter-tune 1' and not os.path.isfile(box.path('pipe.tune'))
    finally:
        os.close(reader)
    os.mkdir(box.path('folder.tune'))
    box.expect(4, 'tune', 'abs', '--backend', 'cpu', '-q', '-o', 'folder.tune')
    assert box.files() == ['folder.tune', 'link.tune', 'old.tune', 'pipe.tune']
    box.write('new.tune.part', b'mine')
    box.expect(4, 'tune', 'abs', '--backend', 'cpu', '-q', '-o', 'new.tune')
    assert box.read('new.tune.part') == b'mine' and not box.exists('new.tune')
