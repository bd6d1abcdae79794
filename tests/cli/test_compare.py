"""compare and --verify."""
import json
import math

from harness import noise, pfm, pgm, pgm_values, sample_u8, test

NAN, INF = float('nan'), float('inf')


@test
def equal_pictures(box):
    sample_u8(box)
    r = box.expect(0, 'compare', 'in.pgm', 'in.pgm')
    assert 'identical' in r.out and not r.err
    d = json.loads(box.expect(0, 'compare', 'in.pgm', 'in.pgm', '--json').out)
    assert d['identical'] and d['max_difference'] == 0 and d['psnr_db'] is None and d['pixels'] == 192


@test
def figures(box):
    a = noise(30 * 20, 255)
    b = list(a)
    for place, change in ((63, 5), (200, 1), (599, -2)):
        b[place] = b[place] + change if 0 <= b[place] + change <= 255 else b[place] - change
    box.write('a.pgm', pgm(30, 20, a))
    box.write('b.pgm', pgm(30, 20, b))
    d = json.loads(box.expect(6, 'compare', 'a.pgm', 'b.pgm', '--json').out)
    rmse = math.sqrt((25 + 1 + 4) / 600)
    assert d['differing'] == 3 and d['beyond_tolerance'] == 3 and d['max_difference'] == 5
    assert abs(d['rmse'] - rmse) < 1e-12 and abs(d['psnr_db'] - 20 * math.log10(255 / rmse)) < 1e-9
    assert d['max_at'] == [3, 2] and d['first_at'] == [3, 2]
    assert d['top_left'] == [3, 2] and d['bottom_right'] == [29, 19]
    text = box.expect(6, 'compare', 'a.pgm', 'b.pgm').out
    assert '5 at (3, 2)' in text and '3 of 600' in text


@test
def tolerance(box):
    box.write('a.pgm', pgm(2, 1, [10, 20]))
    box.write('b.pgm', pgm(2, 1, [10, 23]))
    box.expect(6, 'compare', 'a.pgm', 'b.pgm')
    box.expect(6, 'compare', 'a.pgm', 'b.pgm', '--tolerance', '2.9')
    box.expect(0, 'compare', 'a.pgm', 'b.pgm', '--tolerance', '3')


@test
def pixels_that_are_not_finite(box):
    box.write('a.pfm', pfm(4, 1, [NAN, INF, 1, 2]))
    box.write('b.pfm', pfm(4, 1, [NAN, INF, 1, NAN]))
    box.write('c.pfm', pfm(4, 1, [NAN, -INF, 1, 2]))
    box.expect(0, 'compare', 'a.pfm', 'a.pfm')
    for other in ('b.pfm', 'c.pfm'):
        d = json.loads(box.expect(6, 'compare', 'a.pfm', other, '--json', '--tolerance', '1e30').out)
        assert d['not_finite_on_one_side'] == 1 and d['differing'] == 1


@test
def sizes_and_types(box):
    box.write('a.pgm', pgm(2, 1, [10, 20]))
    box.write('b.pgm', pgm(1, 2, [10, 20]))
    box.write('c.pgm', pgm(2, 1, [10, 20], 65535))
    box.write('d.pfm', pfm(2, 1, [10, 20.5]))
    box.expect(6, 'compare', 'a.pgm', 'b.pgm', says='2x1')
    box.expect(0, 'compare', 'a.pgm', 'c.pgm')
    box.expect(0, 'compare', 'a.pgm', 'd.pfm', '--tolerance', '0.5')
    box.expect(3, 'compare', 'a.pgm', 'missing.pgm')


@test
def difference_picture(box):
    box.write('a.pgm', pgm(3, 1, [10, 20, 255]))
    box.write('b.pgm', pgm(3, 1, [12, 20, 0]))
    box.expect(6, 'compare', 'a.pgm', 'b.pgm', '--diff', 'd.pgm')
    assert pgm_values(box.read('d.pgm'))[3] == [2, 0, 255]
    box.write('c.pfm', pfm(3, 1, [10.5, 20, 255]))
    box.expect(4, 'compare', 'a.pgm', 'c.pfm', '--diff', 'x.pgm')
    assert not box.exists('x.pgm')
    box.expect(6, 'compare', 'a.pgm', 'c.pfm', '--diff', 'd.pfm')
    assert box.read('d.pfm') == pfm(3, 1, [0.5, 0, 0])
    r = box.expect(6, 'compare', 'a.pgm', 'b.pgm', '--diff', '-', '--format', 'pgm')
    assert pgm_values(r.raw)[3] == [2, 0, 255] and 'max difference' in r.err
    box.expect(4, 'compare', 'missing.pgm', 'b.pgm', '--diff', 'd.xyz')


@test
def verify(box):
    sample_u8(box)
    box.expect(0, 'gaussian', 'in.pgm', 'ref.pgm')
    box.expect(0, 'gaussian', 'in.pgm', 'out.pgm', '--verify', 'ref.pgm')
    box.expect(0, 'gaussian', 'in.pgm', '--verify', 'ref.pgm')
    box.expect(6, 'abs', 'in.pgm', 'other.pgm', '--verify', 'ref.pgm', says='differs')
    assert box.exists('other.pgm')
    box.expect(0, 'abs', 'in.pgm', '--verify', 'ref.pgm', '--tolerance', '255')
    r = box.expect(6, 'abs', 'in.pgm', '--verify', 'ref.pgm', '--json')
    report = json.loads(r.out)
    assert report['exit'] == 6 and report['pictures'][0]['verify']['differing'] > 0
    box.expect(3, 'abs', 'in.pgm', 'never.pgm', '--verify', 'missing.pgm', says='missing.pgm')
    assert not box.exists('never.pgm')
    box.write('small.pgm', pgm(1, 1, [1]))
    box.expect(6, 'abs', 'in.pgm', '--verify', 'small.pgm', says='1x1')
    box.expect(2, 'abs', 'in.pgm', 'ref.pgm', '-o', 'd', '--verify', 'ref.pgm')
