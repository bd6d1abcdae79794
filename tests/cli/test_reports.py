"""--json, --explain, --timings, --dry-run, list, bench, completion."""
import json
import os
import subprocess

from harness import Skip, sample_u8, test


@test
def every_json_is_valid(box):
    sample_u8(box)
    name = sample_u8(box, 'odd "name"\\ \u00e4\n\x01.pgm')
    for args in (['list'], ['list', 'point'], ['help', 'sobel'], ['--version'], ['--version', '--verbose'], ['devices'],
                 ['info', 'in.pgm', name], ['compare', 'in.pgm', name], ['abs', name, 'out.pgm'],
                 ['run', '-f', 'gaussian,sobel', name, 'out.pgm', '--explain', '--timings', '--backend', 'cpu'],
                 ['abs', name, '--dry-run'], ['bench', 'abs', '--size', '16', '--backend', 'cpu']):
        r = box.expect(0, *args, '--json')
        assert isinstance(json.loads(r.out), dict), args
    report = json.loads(box.expect(0, 'abs', name, 'out.pgm', '--json').out)
    assert report['pictures'][0]['input'] == name


@test
def json_of_names_that_are_no_utf8(box):
    raw = os.path.join(box.folder.encode(), b'bad\xff\xc0.pgm')
    sample_u8(box)
    with open(raw, 'wb') as f:
        f.write(box.read('in.pgm'))
    out = subprocess.run([box.tool, 'info', '--json', raw], stdout=subprocess.PIPE, check=True).stdout
    assert json.loads(out.decode('utf-8'))['files'][0]['ok']


@test
def json_of_failures(box):
    sample_u8(box)
    box.write('text.png', b'text')
    r = box.expect(3, 'abs', 'text.png', 'out.pgm', '--json')
    report = json.loads(r.out)
    assert report['exit'] == 3 and 'text.png' in report['pictures'][0]['error']
    r = box.expect(1, 'info', 'in.pgm', 'text.png', '--json')
    assert [f['ok'] for f in json.loads(r.out)['files']] == [True, False]


@test
def list_and_help_agree(box):
    filters = json.loads(box.expect(0, 'list', '--json').out)['filters']
    assert len(filters) >= 20
    assert [f['name'] for f in filters] == sorted(f['name'] for f in filters)
    text = box.run('list').out
    for f in filters:
        assert f['name'] in text
        assert json.loads(box.run('help', f['name'], '--json').out) == f
        assert f['impls'] and f['impls'][0]['name'] == 'ref'
        page = box.run('help', f['name']).out
        for p in f['params']:
            assert '--' + p['name'] in page and p['summary'].split()[0] in page


@test
def explain_names_choice_and_rivals(box):
    sample_u8(box)
    r = box.expect(0, 'run', '-f', 'gaussian=2,sobel', 'in.pgm', 'out.pgm', '--explain', '--backend', 'cpu')
    assert not r.out
    lines = r.err.splitlines()
    assert lines[0].startswith('stage 1 gaussian: ') and 'expected' in lines[0] and 'memory' in lines[0]
    assert any(line.startswith('stage 2 sobel: ') for line in lines)
    assert any('not usable: ' in line for line in lines)
    report = json.loads(box.run('gaussian', 'in.pgm', '--dry-run', '--json').out)
    stage = report['pictures'][0]['stages'][0]
    chosen = [x for x in stage['rivals'] if x['impl'] == stage['impl']]
    assert chosen and chosen[0]['usable']
    usable = [x['cost_ns'] for x in stage['rivals'] if x['usable'] and x['backend'] == stage['backend']]
    assert chosen[0]['cost_ns'] == min(c for c in usable if c is not None)


@test
def timings_name_all_steps(box):
    sample_u8(box)
    r = box.expect(0, 'abs', 'in.pgm', 'out.pgm', '--timings')
    steps = ('decode', 'context', 'plan', 'upload', 'kernels', 'download', 'encode')
    for step in steps:
        assert step in r.err
    report = json.loads(box.run('abs', 'in.pgm', 'out.pgm', '--json').out)
    times = report['pictures'][0]['timings_ms']
    assert tuple(times) == steps and times['decode'] > 0 and times['kernels'] > 0 and times['encode'] > 0


@test
def dry_run_writes_nothing(box):
    sample_u8(box)
    before = box.files()
    r = box.expect(0, 'gaussian', 'in.pgm', 'out.png', '--dry-run')
    assert 'in.pgm' in r.out and 'out.png' in r.out and '16x12' in r.out
    box.expect(0, 'gaussian', 'in.pgm', '--dry-run', '--explain')
    box.expect(3, 'gaussian', 'missing.pgm', 'out.png', '--dry-run')
    assert box.files() == before


@test
def quiet_and_verbose(box):
    sample_u8(box)
    assert not box.expect(0, 'gaussian', 'in.pgm', 'out.pgm', '-q').err
    box.expect(0, 'gaussian', 'in.pgm', 'out.pgm', '-v')


@test
def bench_measures(box):
    r = box.expect(0, 'bench', 'sobel', 'gaussian=2,sobel', '--size', '64x48', '--backend', 'cpu', '--pixel', 'u16')
    assert '64x48 u16' in r.out and 'gaussian=2,sobel' in r.out and '% copy' in r.out
    report = json.loads(box.expect(0, 'bench', 'abs', '--size', '64', '--backend', 'cpu', '--json').out)
    for row in report['results']:
        assert row['ok'] and row['ms'] > 0 and row['percent_of_copy'] > 0
        assert abs(row['mpix_per_s'] * row['ms'] / 1e3 - 64 * 64 / 1e6) < 1e-9
    report = json.loads(box.expect(0, 'bench', '--size', '8', '--impl', 'ref', '--json', '-q').out)
    filters = json.loads(box.run('list', '--json').out)['filters']
    assert len(report['results']) == sum(len(f['cases']) for f in filters)
    assert all(row['impl'] == 'ref' for row in report['results'])
    box.expect(2, 'bench', 'nonsense')
    box.expect(2, 'bench', 'gaussian=0')
    box.expect(2, 'bench', 'abs', '--impl', 'fft', '--size', '8')


@test
def bash_completion(box):
    source = os.environ.get('GPUFILTER_COMPLETIONS')
    if not source:
        raise Skip('GPUFILTER_COMPLETIONS names no folder')

    def complete(*words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_gpufilter gpufilter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        run = subprocess.run(['bash', '-c', script, 'bash', os.path.join(source, 'gpufilter.bash'), *words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        assert not run.stderr, run.stderr
        return run.stdout.decode().split()
    if not os.path.exists('/bin/bash') and not os.path.exists('/usr/bin/bash'):
        raise Skip('no bash')
    assert 'gaussian' in complete('gpufilter', 'gau')
    assert set(complete('gpufilter', '')) >= {'run', 'list', 'bench', 'sobel'}
    assert '--sigma' in complete('gpufilter', 'gaussian', 'in.png', '--si')
    assert complete('gpufilter', 'sobel', '--direction', 'm') == ['magnitude']
    assert complete('gpufilter', 'run', '--backend', 'c') == ['cpu', 'cuda']
    assert complete('gpufilter', 'gaussian', 'in') == []
    assert 'sobel' in complete('gpufilter', 'help', 'so')
    assert '--chain' in complete('gpufilter', 'run', '--ch')
