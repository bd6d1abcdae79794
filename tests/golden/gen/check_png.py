#!/usr/bin/env python3
"""Compare how the library decodes PNG files with a decoder that shares no code with it.

usage: check_png.py LIBRARY FOLDER...

LIBRARY is libgpufilter.so. In every FOLDER (PngSuite is meant) each *.png is decoded twice: by the
library, and by the small decoder below, which uses only zlib and NumPy; up to 8 bits Pillow is asked
too. Files of a folder named "corrupt" must be refused with a reason. Exit 1 when anything differs.
"""
import ctypes
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image

PIXEL_TYPES = {1: np.uint8, 2: np.uint16, 3: np.float32}
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


class View(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('width', ctypes.c_int32), ('height', ctypes.c_int32),
                ('pitch', ctypes.c_size_t), ('pixel', ctypes.c_int), ('memory', ctypes.c_int)]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.gf_image_view.restype = View
        self.lib.gf_image_view.argtypes = [ctypes.c_void_p]
        self.lib.gf_error_message.restype = ctypes.c_char_p

    def load(self, path):
        """Pixels, or None and the reason."""
        image = ctypes.c_void_p()
        if self.lib.gf_image_load(str(path).encode(), None, ctypes.byref(image)):
            return None, self.lib.gf_error_message().decode()
        view = self.lib.gf_image_view(image)
        raw = np.ctypeslib.as_array(ctypes.cast(view.data, ctypes.POINTER(ctypes.c_uint8)),
                                    (view.height, view.pitch))
        kind = np.dtype(PIXEL_TYPES[view.pixel])
        pixels = raw[:, :view.width * kind.itemsize].copy().view(kind)
        self.lib.gf_image_destroy(ctypes.byref(image))
        return pixels, ''


def chunks(data):
    at = 8
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += 12 + length


def unfilter(raw, at, rows, row_bytes, step):
    """Undo the filters of one (pass of an) image; return its rows as bytes and the end offset."""
    above = [0] * row_bytes
    out = np.zeros((rows, row_bytes), np.uint8)
    for y in range(rows):
        kind, line = raw[at], list(raw[at + 1:at + 1 + row_bytes])
        at += 1 + row_bytes
        for i in range(row_bytes):
            a = line[i - step] if i >= step else 0
            b = above[i]
            c = above[i - step] if i >= step else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, nearest][kind]) % 256
        out[y] = above = line
    return out, at


def unpack(rows, width, bits, channels):
    """Bytes to samples, shape (height, width, channels)."""
    if bits == 16:
        samples = rows.reshape(len(rows), -1, 2)
        samples = samples[:, :, 0].astype(np.uint32) * 256 + samples[:, :, 1]
    elif bits == 8:
        samples = rows.astype(np.uint32)
    else:
        bit = np.unpackbits(rows, axis=1)[:, :width * bits].reshape(len(rows), width, bits)
        samples = (bit * (1 << np.arange(bits)[::-1])).sum(axis=2).astype(np.uint32)
    return samples[:, :width * channels].reshape(len(rows), width, channels)


def decode(data):
    """Samples as stored, and the header: (samples, bits, colour type, palette)."""
    parts = list(chunks(data))
    width, height, bits, color, _, _, interlaced = struct.unpack('>IIBBBBB', parts[0][1])
    raw = zlib.decompress(b''.join(body for kind, body in parts if kind == b'IDAT'))
    palette = b''.join(body for kind, body in parts if kind == b'PLTE')
    n = CHANNELS[color]
    step = max(1, bits * n // 8)
    samples = np.zeros((height, width, n), np.uint32)
    at = 0
    for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        w, h = max(0, -(-(width - x0) // dx)), max(0, -(-(height - y0) // dy))
        if w and h:
            rows, at = unfilter(raw, at, h, (w * bits * n + 7) // 8, step)
            samples[y0::dy, x0::dx] = unpack(rows, w, bits, n)
    return samples, bits, color, np.frombuffer(palette, np.uint8).reshape(-1, 3)


def luma(rgb):
    """Rec. 601 in exact integers, rounded to nearest."""
    r, g, b = (rgb[..., i].astype(np.int64) for i in range(3))
    return (2 * (299 * r + 587 * g + 114 * b) + 1000) // 2000


def to_gray(samples, bits, color, palette):
    if color == 3:
        gray = luma(palette[samples[:, :, 0]])
    elif color in (2, 6):
        gray = luma(samples)
    else:
        gray = samples[:, :, 0]
        if bits < 8:
            gray = gray * 255 // ((1 << bits) - 1)
    return gray.astype(np.uint16 if bits == 16 else np.uint8)


def pillow_gray(path):
    """Gray through Pillow's decoder, alpha dropped; None in a mode that it is not asked for."""
    image = Image.open(path)
    image.info.pop('transparency', None)
    if image.mode == '1':
        return np.asarray(image.convert('L'))
    if image.mode in ('L', 'LA'):
        return np.asarray(image.convert('LA'))[:, :, 0]
    if image.mode in ('P', 'RGB', 'RGBA'):
        return luma(np.asarray(image.convert('RGBA' if image.mode == 'RGBA' else 'RGB'))).astype(np.uint8)
    return None


def check_good(library, path):
    """'' when right, else what is wrong."""
    got, why = library.load(path)
    if got is None:
        return 'refused: ' + why
    samples, bits, color, palette = decode(path.read_bytes())
    want = to_gray(samples, bits, color, palette)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f'{got.shape} {got.dtype}, not {want.shape} {want.dtype}'
    if (got != want).any():
        return f'{(got != want).sum()} pixels differ'
    other = pillow_gray(path) if bits <= 8 else None
    if other is not None and (got != other).any():
        return f'{(got != other).sum()} pixels differ from Pillow'
    return ''


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library = Library(sys.argv[1])
    right = wrong = 0
    for path in sorted(p for folder in sys.argv[2:] for p in pathlib.Path(folder).rglob('*.png')):
        if path.parent.name == 'corrupt':
            got, why = library.load(path)
            fault = 'accepted' if got is not None else '' if why else 'refused without a reason'
            print(f'{path.name}: {why}')
        else:
            fault = check_good(library, path)
        if fault:
            print(f'{path}: {fault}')
        wrong += bool(fault)
        right += not fault
    print(f'{right} right, {wrong} wrong')
    sys.exit(1 if wrong or not right else 0)


main()
