"""Every parameter of every filter: what is wrong is refused before a file is opened."""
import json
import math

from harness import pgm, sample_f32, sample_u16, sample_u8, test


def filters(box):
    return json.loads(box.run('list', '--json').out)['filters']


def case_options(description, case):
    """A case, "2:border=wrap", as options: ['--sigma', '2', '--border', 'wrap']."""
    positional = [p['name'] for p in description['params'] if p['positional']]
    options, taken = [], 0
    for item in case.split(':') if case else []:
        if '=' in item:
            key, value = item.split('=', 1)
        else:
            key, value, taken = positional[taken], item, taken + 1
        options += ['--' + key, value]
    return options


def required_but(description, name):
    """Options for the required parameters other than one, from the first case."""
    options = case_options(description, description['cases'][0])
    needed = {'--' + p['name'] for p in description['params'] if p['required'] and p['name'] != name}
    return [x for k, v in zip(options[::2], options[1::2]) if k in needed for x in (k, v)]


def bad_numbers(param):
    values = ['nan', 'inf', '-inf', '', ' ', 'abc', '1e9999', '1,5', '2px', '--', '1 2']
    if param['min'] is not None:
        values += [repr(param['min'] - 1), '-1e30']
        if param['min_open']:
            values.append(repr(param['min']))
    if param['max'] is not None:
        values += [repr(param['max'] * 2 + 1), '1e30']
    if param['type'] == 'int':
        inside = param['min'] if param['min'] is not None else 0
        values += [repr(math.floor(inside) + 0.5), '1e12', '99999999999999999999']
    if param['odd']:
        inside = int(param['min']) if param['min'] is not None else 1
        values.append(str(inside + 1 if inside % 2 else inside + 2))
    return values


def bad_values(param):
    if param['type'] == 'enum':
        return ['', 'bogus', param['choices'][0] + 'x']
    if param['type'] == 'kernel':
        return ['', ';', '1 2;3', 'a b', '1 nan', '1 inf', '1,,2x']
    return bad_numbers(param)


def refuse(box, args, name, value):
    r = box.run(*args, 'missing.pgm', 'out.pgm')
    assert r.code == 2, f'{args}: exit {r.code}, not 2: {r.err}'
    assert name in r.err and 'gpufilter: error: ' in r.err, f'{args}: {r.err}'
    assert not r.raw and not box.exists('out.pgm'), (args, value)


@test
def silly_values_are_refused(box):
    n = 0
    for f in filters(box):
        for p in f['params']:
            for value in bad_values(p):
                refuse(box, [f['name'], *required_but(f, p['name']), f'--{p["name"]}={value}'], p['name'], value)
                n += 1
    assert n > 200, n


@test
def silly_values_in_chains_are_refused(box):
    for f in filters(box):
        for p in f['params']:
            for value in bad_values(p)[:5]:
                rest = required_but(f, p['name'])
                keys = ''.join(f":{k[2:]}='{v}'" for k, v in zip(rest[::2], rest[1::2]))
                refuse(box, ['run', '-f', f"abs,{f['name']}{keys}:{p['name']}='{value}'"], p['name'], value)


@test
def required_parameters(box):
    for f in filters(box):
        for p in f['params']:
            if p['required']:
                refuse(box, [f['name'], *required_but(f, p['name'])], p['name'], None)


@test
def every_case_runs_on_every_pixel_type(box):
    inputs = [sample_u8(box), sample_u16(box), sample_f32(box)]
    for f in filters(box):
        for case in f['cases']:
            for name in inputs:
                out = 'out' + name[name.index('.'):]
                box.expect(0, f['name'], *case_options(f, case), name, out, '--backend', 'cpu')
                assert box.exists(out), (f['name'], case, name)
            chain = f['name'] + (':' + case if case else '')
            box.expect(0, 'run', '-f', chain, 'in.pgm', 'chain.pgm', '--backend', 'cpu')
            box.expect(0, f['name'], *case_options(f, case), 'in.pgm', 'option.pgm', '--backend', 'cpu')
            assert box.read('chain.pgm') == box.read('option.pgm'), chain


@test
def every_choice_is_taken(box):
    box.write('in.pgm', pgm(5, 4, range(20)))
    for f in filters(box):
        for p in f['params']:
            for choice in p.get('choices', []):
                box.expect(0, f['name'], *required_but(f, p['name']), f'--{p["name"]}={choice}', 'in.pgm', 'out.pgm')


@test
def kernel_from_a_file(box):
    sample_u8(box)
    box.write('k.txt', b'1 2 1\n2 4 2\n1 2 1\n')
    box.expect(0, 'correlate', '--kernel', '@k.txt', '--scale', '0.0625', 'in.pgm', 'a.pgm')
    box.expect(0, 'correlate', '--kernel', '1 2 1;2 4 2;1 2 1', '--scale', '0.0625', 'in.pgm', 'b.pgm')
    assert box.read('a.pgm') == box.read('b.pgm')
    r = box.run('correlate', '--kernel', '@missing.txt', 'in.pgm', 'c.pgm')
    assert r.code in (2, 3) and 'missing.txt' in r.err and not box.exists('c.pgm'), r.err
    box.expect(3, 'correlate', '--kernel', '@.', 'in.pgm', 'c.pgm', says="kernel file '.'")
    for k in (b'1 2 1\n2 4 2\n1 2 1\n', b'P5 3 3 255\n' + bytes([1, 2, 1, 2, 4, 2, 1, 2, 1])):
        # a pipe can be read only once
        box.expect(0, 'correlate', '--kernel', '@/dev/stdin', '--scale', '0.0625', 'in.pgm', 'c.pgm', stdin=k)
        assert box.read('a.pgm') == box.read('c.pgm')


@test
def kernel_that_does_not_fit_the_image(box):
    box.write('in.pgm', pgm(2, 2, [1, 2, 3, 4]))
    box.expect(2, 'correlate', '--kernel', '1 2 3 4', '--mode', 'valid', 'in.pgm', 'out.pgm')
    assert not box.exists('out.pgm')


@test
def numbers_do_not_depend_on_the_locale(box):
    sample_u8(box)
    box.expect(0, 'gaussian', '--sigma', '1.5', 'in.pgm', 'a.pgm')
    for name in ('de_DE.UTF-8', 'de_DE', 'fr_FR.UTF-8'):
        env = {'LC_ALL': name, 'LC_NUMERIC': name, 'LANG': name}
        box.expect(0, 'gaussian', '--sigma', '1.5', 'in.pgm', 'b.pgm', env=env)
        assert box.read('a.pgm') == box.read('b.pgm')
        box.expect(2, 'gaussian', '--sigma', '1,5', 'in.pgm', 'b.pgm', env=env)
        r = box.expect(0, 'gaussian', '--sigma', '1.5', 'in.pgm', 'b.pgm', '--json', env=env)
        json.loads(r.out)
