"""PGM (P5) and PFM (Pf) files, and pictures made by a formula."""

import numpy as np


def encode(pixels):
    """uint8 and uint16 become PGM, float32 becomes PFM."""
    height, width = pixels.shape
    if pixels.dtype == np.float32:
        return f"Pf\n{width} {height}\n-1.0\n".encode() + pixels[::-1].astype("<f4").tobytes()
    maxval, kind = (255, "u1") if pixels.dtype == np.uint8 else (65535, ">u2")
    return f"P5\n{width} {height}\n{maxval}\n".encode() + pixels.astype(kind).tobytes()


def decode(data):
    """The inverse of encode, for files as this project writes them (no comments)."""
    magic, width, height, scale, body = split_header(data)
    if magic == b"Pf":
        kind = "<f4" if float(scale) < 0 else ">f4"
        return np.frombuffer(body, kind).reshape(height, width)[::-1].astype(np.float32)
    if magic != b"P5":
        raise ValueError(f"magic is {magic!r}, not P5 or Pf")
    kind = "u1" if int(scale) < 256 else ">u2"
    native = np.uint8 if int(scale) < 256 else np.uint16
    return np.frombuffer(body, kind).reshape(height, width).astype(native)


def split_header(data):
    """Four words with white space between, then exactly one white space byte."""
    words, at = [], 0
    while len(words) < 4:
        while data[at:at + 1].isspace():
            at += 1
        start = at
        while not data[at:at + 1].isspace():
            at += 1
        words.append(data[start:at])
    return words[0], int(words[1]), int(words[2]), words[3], data[at + 1:]


def picture(height, width, pixel):
    """A ramp, a bright disc with a hard edge, a dark bar and hashed noise, over the whole range
    of the pixel type; floats go from below 0 to above 1."""
    y, x = np.mgrid[0:height, 0:width].astype(np.uint64)
    noise = (x * np.uint64(73856093) ^ y * np.uint64(19349663)) * np.uint64(2654435761)
    noise = (noise >> np.uint64(13)) % np.uint64(65536) / 65535.0
    u, v = (x + 0.5) / width, (y + 0.5) / height
    out = 0.15 + 0.5 * u + 0.2 * v + 0.25 * (noise - 0.5)
    out[(u - 0.6) ** 2 + (v - 0.4) ** 2 < 0.06] += 0.4
    out[(u > 0.15) & (u < 0.25)] -= 0.3
    out += np.where(noise > 0.97, 1.0, 0.0) - np.where(noise < 0.03, 1.0, 0.0)
    if pixel == "f32":
        return (out * 1.25 - 0.125).astype(np.float32)
    white = 255 if pixel == "u8" else 65535
    return np.clip(np.rint(out * white), 0, white).astype(np.uint8 if pixel == "u8" else np.uint16)
