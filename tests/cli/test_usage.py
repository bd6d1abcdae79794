"""Commands, options, help, exit codes of wrong usage."""
from harness import sample_u8, test


@test
def no_command(box):
    r = box.expect(2, says='no command given')
    assert not r.raw


@test
def help_texts(box):
    for args in (['help'], ['--help'], ['-h'], ['help', 'run'], ['run', '--help'], ['help', 'bench'],
                 ['gaussian', '--help'], ['help', 'gaussian'], ['--sigma', '2', 'gaussian', '-h']):
        r = box.expect(0, *args)
        assert len(r.out) > 200, args
        assert not r.err, args
    assert '--sigma' in box.run('help', 'gaussian').out
    assert '--chain' in box.run('help', 'run').out


@test
def version(box):
    r = box.expect(0, '--version')
    assert r.out.startswith('gpufilter ') and r.out.count('\n') == 1
    r = box.expect(0, '--version', '--verbose')
    assert 'format pgm' in r.out and 'CUDA' in r.out
    box.expect(2, '--version', 'extra')


@test
def unknown_names_suggest(box):
    box.expect(2, 'gausian', 'a', 'b', says="did you mean 'gaussian'?")
    box.expect(2, 'lsit', says="did you mean 'list'?")
    box.expect(2, 'gaussian', 'a', 'b', '--sgima', '2', says="did you mean '--sigma'?")
    box.expect(2, 'gaussian', 'a', 'b', '--tim', says="did you mean '--timings'?")
    box.expect(2, 'run', '-f', 'gausian', 'a', 'b', says="did you mean 'gaussian'?")
    box.expect(2, 'run', '-f', 'gaussian:sigam=2', 'a', 'b', says="did you mean 'sigma'?")
    box.expect(2, 'gaussian', 'a', 'b', '--border', 'miror', says='mirror')
    box.expect(2, 'gaussian', 'a', 'b', '--impl', 'sepp', says="did you mean 'sep'?")
    box.expect(2, 'gaussian', 'a', 'b.pgm', '--format', 'pgn', says="did you mean 'png'?")
    box.expect(2, 'help', 'sobell', says="did you mean 'sobel'?")
    box.expect(2, 'list', 'smothing', says="did you mean 'smoothing'?")
    r = box.expect(2, 'xyzzyxyzzy', 'a', 'b')
    assert 'did you mean' not in r.err and 'gpufilter: hint: ' in r.err


@test
def wrong_words(box):
    sample_u8(box)
    before = box.files()
    box.expect(2, 'gaussian', says='no input named')
    box.expect(2, 'gaussian', 'in.pgm', says='no output named')
    box.expect(2, 'gaussian', 'in.pgm', 'b.pgm', 'c.pgm', says='no folder')
    box.expect(2, 'run', 'in.pgm', 'out.pgm', says='-f CHAIN')
    box.expect(2, 'run', '-f', '', 'in.pgm', 'out.pgm')
    box.expect(2, 'run', '-f', 'gaussian,,sobel', 'in.pgm', 'out.pgm')
    box.expect(2, 'run', '-f', 'gaussian="2', 'in.pgm', 'out.pgm')
    box.expect(2, 'gaussian', 'in.pgm', 'out.pgm', '--bogus', says='unknown option')
    box.expect(2, 'gaussian', 'in.pgm', 'out.pgm', '-z', says='unknown option')
    box.expect(2, 'gaussian', 'in.pgm', 'out.pgm', '--sigma', says='needs a value')
    box.expect(2, 'gaussian', 'in.pgm', 'out.pgm', '--sigma', '--json', says='needs a value')
    box.expect(2, 'gaussian', 'in.pgm', 'out.pgm', '--json=1', says='takes no value')
    box.expect(2, 'list', '--sigma', '2', says='unknown option')
    box.expect(2, 'list', 'a', 'b')
    box.expect(2, 'info', says='no file named')
    box.expect(2, 'compare', 'in.pgm', says='two pictures')
    box.expect(2, 'devices', 'extra')
    box.expect(2, '--bogus')
    assert box.files() == before


@test
def options_stand_anywhere(box):
    sample_u8(box)
    box.expect(0, 'gaussian', 'in.pgm', 'a.pgm', '--sigma', '2')
    reference = box.read('a.pgm')
    for args in (['--sigma', '2', 'gaussian', 'in.pgm', 'b.pgm'], ['gaussian', '--sigma=2', 'in.pgm', 'b.pgm'],
                 ['-q', 'gaussian', 'in.pgm', '--sigma', '2', 'b.pgm'],
                 ['--backend', 'cpu', 'gaussian', 'in.pgm', 'b.pgm', '--sigma', '2'],
                 ['gaussian', '--sigma', '2', '--', 'in.pgm', 'b.pgm'],
                 ['run', 'in.pgm', 'b.pgm', '-f', 'gaussian=2'], ['run', '-fgaussian=2', 'in.pgm', 'b.pgm'],
                 ['run', '--chain=gaussian:sigma=2', 'in.pgm', 'b.pgm'], ['gaussian=2', 'in.pgm', 'b.pgm'],
                 ['gaussian', '--sigma', '9', '--sigma', '2', 'in.pgm', 'b.pgm'],
                 ['gaussian', '-qv', '--sigma', '2', 'in.pgm', 'b.pgm']):
        box.expect(0, *args)
        assert box.read('b.pgm') == reference, args


@test
def double_dash_ends_options(box):
    sample_u8(box, '--in.pgm')
    box.expect(0, 'abs', '--', '--in.pgm', '--out.pgm')
    assert box.read('--in.pgm') == box.read('--out.pgm')


@test
def negative_values(box):
    sample_u8(box)
    box.expect(0, 'scale', '--factor', '-1', '--offset', '255', 'in.pgm', 'a.pgm')
    box.expect(0, 'invert', 'in.pgm', 'b.pgm')
    assert box.read('a.pgm') == box.read('b.pgm')
    box.expect(0, 'scale', 'in.pgm', 'c.pgm', '--offset', '-3.5e0')


@test
def common_option_values(box):
    sample_u8(box)
    before = box.files()
    for option, values in {'--threads': ['0', '-1', 'x', '', '1.5', '99999999999'],
                           '--device': ['-1', 'x', '', '1e3'],
                           '--quality': ['0', '101', '-5', 'high', ''],
                           '--white': ['0', '-1', 'nan', 'inf', '', 'x', '1,5'],
                           '--tolerance': ['-1', 'nan', 'inf', '', 'x'],
                           '--max-pixels': ['0', '-1', 'x', '', '1e9'],
                           '--depth': ['u9', '', '8', 'U8'], '--backend': ['gpu', ''],
                           '--format': ['', 'gif', 'PGM'], '--impl': ['', 'none']}.items():
        for value in values:
            box.expect(2, 'abs', 'missing.pgm', 'out.pgm', f'{option}={value}', says=option)
    for value in ('0', 'x', '3x', 'x3', '1x1x1', '-4', '3x0', ''):
        box.expect(2, 'bench', 'abs', f'--size={value}', says='--size')
    box.expect(2, 'bench', 'abs', '--pixel=u32', says='--pixel')
    assert box.files() == before


@test
def example_of_the_texts_runs(box):
    sample_u8(box)
    text = box.run('help', 'run').out
    chain = text.split('such as ', 1)[1].split()[0].rstrip('.')
    box.expect(0, 'run', '-f', chain, 'in.pgm', 'out.pgm')
