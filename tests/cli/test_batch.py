"""Several inputs in one call."""
import json
import os

from harness import pgm, sample_f32, sample_u16, sample_u8, test


@test
def all_good(box):
    names = [sample_u8(box, 'a.pgm'), sample_u8(box, 'b.PGM', 7, 5), sample_u16(box, 'c.pgm'), sample_f32(box, 'd.pfm')]
    r = box.expect(0, 'abs', *names, '-o', 'out')
    assert not r.raw
    assert sorted(os.listdir(box.path('out'))) == names
    for name in names:
        assert box.read(name) == box.read('out/' + name), name


@test
def bad_files_do_not_stop_the_others(box):
    good = [sample_u8(box, 'good1.pgm'), sample_u8(box, 'good2.pgm')]
    box.write('text.jpg', b'this is text\n')
    box.write('half.pgm', b'P5\n100 100\n255\n' + bytes(50))
    r = box.expect(1, 'abs', good[0], 'text.jpg', 'half.pgm', 'missing.pgm', good[1], '-o', 'out')
    for name in ('text.jpg', 'half.pgm', 'missing.pgm'):
        assert sum(name in line for line in r.err.splitlines()) == 1, r.err
    assert '3 of 5' in r.err
    assert sorted(os.listdir(box.path('out'))) == good


@test
def two_results_of_one_name_are_refused(box):
    for folder in ('a', 'b'):
        os.mkdir(box.path(folder))
        sample_u8(box, folder + '/x.pgm')
        sample_u8(box, folder + '/y' + folder + '.pgm')
    sample_f32(box, 'a/x.pfm')
    r = box.expect(2, 'abs', 'a/x.pgm', 'b/x.pgm', 'a/ya.pgm', '-o', 'out')
    assert 'a/x.pgm' in r.err and 'b/x.pgm' in r.err and 'out/x.pgm' in r.err
    box.expect(2, 'abs', 'a/x.pgm', 'a/x.pfm', '-o', 'out', '--format', 'png', '--depth', 'u8')
    box.expect(2, 'abs', 'a/x.pgm', 'a/x.pgm', '-o', 'out')
    assert not box.exists('out')
    box.expect(0, 'abs', 'a/x.pgm', 'a/x.pfm', 'b/yb.pgm', '-o', 'out')


@test
def names_of_results(box):
    sample_u8(box, 'plain')
    sample_u8(box, 'photo.old.dat')
    sample_u8(box, 'keep.PGM')
    box.expect(0, 'abs', 'plain', 'photo.old.dat', 'keep.PGM', '-o', 'out')
    assert sorted(os.listdir(box.path('out'))) == ['keep.PGM', 'photo.old.png', 'plain.png']
    box.expect(0, 'abs', 'plain', 'photo.old.dat', 'keep.PGM', '-o', 'jpegs', '--format', 'jpeg')
    assert sorted(os.listdir(box.path('jpegs'))) == ['keep.jpg', 'photo.old.jpg', 'plain.jpg']


@test
def folder_of_the_results(box):
    sample_u8(box)
    box.write('file', b'')
    box.expect(4, 'abs', 'in.pgm', '-o', 'file', says='no folder')
    box.expect(4, 'abs', 'in.pgm', '-o', 'no/such', says='no/such')
    box.expect(0, 'abs', 'in.pgm', '-o', '.')
    box.expect(0, 'abs', 'in.pgm', '-o', 'new', '--dry-run')
    assert not box.exists('new')


@test
def no_clobber_in_a_batch_is_found_first(box):
    names = [sample_u8(box, 'a.pgm'), sample_u8(box, 'b.pgm')]
    os.mkdir(box.path('out'))
    box.write('out/b.pgm', b'old')
    box.expect(4, 'abs', *names, '-o', 'out', '--no-clobber', says='out/b.pgm')
    assert os.listdir(box.path('out')) == ['b.pgm'] and box.read('out/b.pgm') == b'old'


@test
def sizes_and_types_change_within_a_batch(box):
    names = []
    for i, (w, h, top) in enumerate([(5, 4, 255), (5, 4, 255), (4, 5, 255), (5, 4, 65535), (1, 1, 255), (5, 4, 255)]):
        names.append(box.write(f'{i}.pgm', pgm(w, h, [(7 * k * (top // 255)) % (top + 1) for k in range(w * h)], top)))
    box.expect(0, 'run', '-f', 'gaussian=1,sobel', *names, '-o', 'out')
    for name in names:
        box.expect(0, 'run', '-f', 'gaussian=1,sobel', name, 'single.pgm')
        assert box.read('single.pgm') == box.read('out/' + name), name


@test
def json_of_a_batch(box):
    names = [sample_u8(box, 'a.pgm'), 'missing.pgm', sample_u8(box, 'b.pgm')]
    r = box.expect(1, 'abs', *names, '-o', 'out', '--json')
    report = json.loads(r.out)
    assert [p['ok'] for p in report['pictures']] == [True, False, True]
    assert 'missing.pgm' in report['pictures'][1]['error'] and report['exit'] == 1
