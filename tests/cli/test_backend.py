"""--backend, with and without a GPU."""
import json

from harness import Skip, sample_u8, test

HIDDEN = {'CUDA_VISIBLE_DEVICES': ''}


@test
def no_visible_device(box):
    sample_u8(box)
    box.expect(0, 'gaussian', 'in.pgm', 'cpu.pgm', '--backend', 'cpu', env=HIDDEN)
    r = box.expect(0, 'gaussian', 'in.pgm', 'auto.pgm', '--backend', 'auto', env=HIDDEN)
    assert len(r.err.splitlines()) <= 1, r.err
    assert box.read('auto.pgm') == box.read('cpu.pgm')
    r = box.expect(5, 'gaussian', 'in.pgm', 'cuda.pgm', '--backend', 'cuda', env=HIDDEN)
    assert 'gpufilter: hint: ' in r.err and not box.exists('cuda.pgm')
    box.expect(5, 'gaussian', 'missing.pgm', 'cuda.pgm', '--backend', 'cuda', env=HIDDEN)
    box.expect(5, 'bench', 'abs', '--backend', 'cuda', '--size', '16', env=HIDDEN)


@test
def implementation_of_a_missing_backend(box):
    sample_u8(box)
    filters = json.loads(box.run('list', '--json').out)['filters']
    for f in filters:
        if any(p['required'] for p in f['params']):
            continue
        cuda = [i['name'] for i in f['impls'] if i['backend'] == 'cuda']
        for name in cuda[:1]:
            box.expect(5, f['name'], 'in.pgm', 'out.pgm', '--impl', name, env=HIDDEN, says=name)
            box.expect(2, f['name'], 'in.pgm', 'out.pgm', '--impl', name, '--backend', 'cpu', says=name)
    assert not box.exists('out.pgm')


@test
def every_cpu_implementation_gives_the_same(box):
    sample_u8(box)
    filters = json.loads(box.run('list', '--json').out)['filters']
    for f in filters:
        if any(p['required'] for p in f['params']):
            continue
        box.expect(0, f['name'], 'in.pgm', 'ref.pgm', '--impl', f['impls'][0]['name'])
        for impl in f['impls']:
            if impl['backend'] != 'cpu':
                continue
            r = box.run(f['name'], 'in.pgm', '--verify', 'ref.pgm', '--tolerance', '1', '--impl', impl['name'])
            # an implementation that cannot serve a request says so, with the exit code of usage
            assert r.code in (0, 2), (f['name'], impl, r.err)
            assert r.code == 0 or impl['name'] in r.err


@test
def devices(box):
    r = box.expect(0, 'devices', env=HIDDEN)
    assert 'CUDA' in r.out and 'no GPU can be used' in r.out
    report = json.loads(box.expect(0, 'devices', '--json', env=HIDDEN).out)
    assert report['devices'] == [] and report['cuda']['reason']


@test
def a_gpu_when_there_is_one(box):
    report = json.loads(box.expect(0, 'devices', '--json').out)
    if report['cuda']['reason']:
        raise Skip(report['cuda']['reason'])
    sample_u8(box)
    box.expect(0, 'gaussian', 'in.pgm', 'ref.pgm', '--backend', 'cpu')
    box.expect(0, 'gaussian', 'in.pgm', '--backend', 'cuda', '--verify', 'ref.pgm', '--tolerance', '1')
    box.expect(5, 'gaussian', 'in.pgm', 'out.pgm', '--backend', 'cuda', '--device', '999')


@test
def threads(box):
    sample_u8(box, width=200, height=100)
    box.expect(0, 'gaussian', 'in.pgm', 'one.pgm', '--threads', '1', '--backend', 'cpu')
    for n in ('2', '3', '7'):
        box.expect(0, 'gaussian', 'in.pgm', 'many.pgm', '--threads', n, '--backend', 'cpu')
        assert box.read('one.pgm') == box.read('many.pgm')


@test
def tune(box):
    box.expect(2, 'tune', 'out.tune', says="'out.tune' is not a filter")
    box.expect(5, 'tune', 'abs', '--backend', 'cuda', '-o', 'cuda.tune', env=HIDDEN)
    box.expect(4, 'tune', 'abs', '--backend', 'cpu', '-q', '-o', 'no/such/folder.tune')
    r = box.expect(0, 'tune', 'prewitt', '--backend', 'cpu', '--threads', '1', '-q')
    lines = r.out.splitlines()
    assert lines[0] == 'gpufilter-tune 1' and lines[1].startswith('version ') and not r.err
    rows = [line.split() for line in lines[2:] if not line.startswith('#')]
    assert {row[1] for row in rows} == {'u8', 'u16', 'f32'}
    assert all(int(row[2]) > 0 and int(row[3]) > 0 for row in rows)
    report = json.loads(box.expect(0, 'tune', 'abs', '--backend', 'cpu', '-q', '--json').out)
    assert report['gpu'] is None and report['rows']


@test
def a_tuning_file_decides(box):
    """An implementation that the file says is fast is taken."""
    sample_u8(box)
    filters = json.loads(box.run('list', '--json').out)['filters']
    head = b'\n'.join(box.run('tune', 'abs', '--backend', 'cpu', '-q').raw.splitlines()[:2])
    impls = next(f['impls'] for f in filters if f['name'] == 'gaussian')
    for name in [i['name'] for i in impls if i['backend'] == 'cpu'][1:3]:
        box.write('this.tune', b'%s\n%s u8 1000000 1\n' % (head, name.encode()))
        r = box.expect(0, 'gaussian', 'in.pgm', 'out.pgm', '--backend', 'cpu', '--explain', '--json',
                       env={'GPUFILTER_TUNE': box.path('this.tune')})
        assert json.loads(r.out)['pictures'][0]['stages'][0]['impl'] == name, (name, r.out)
    box.write('old.tune', b'gpufilter-tune 1\nversion 0.0.0\n')
    r = box.expect(0, 'gaussian', 'in.pgm', 'out.pgm', env={'GPUFILTER_TUNE': box.path('old.tune')})
    assert 'old.tune' in r.err and 'gpufilter tune' in r.err
    box.write('bad.tune', b'nonsense')
    box.expect(3, 'gaussian', 'in.pgm', 'out.pgm', env={'GPUFILTER_TUNE': box.path('bad.tune')},
               says='bad.tune')
