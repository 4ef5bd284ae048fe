"""Every kind of picture becomes RGB, or one sentence."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from stdiffeye.encoders.picture import find_pictures, load_picture, squash
from stdiffeye.errors import InputError

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def two_colours(left: tuple[int, int, int] = RED, right: tuple[int, int, int] = BLUE) -> Image.Image:
    """32 px wide, 16 px high, one colour on each half."""
    image = Image.new("RGB", (32, 16), right)
    image.paste(left, (0, 0, 16, 16))
    return image


def png_header_of(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def assert_near(image: Image.Image, xy: tuple[int, int], colour: tuple[int, int, int], within: int = 12) -> None:
    assert np.abs(np.array(image.getpixel(xy)) - colour).max() <= within


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".tif", ".webp", ".gif", ".ppm"])
def test_every_usual_format_gives_the_same_rgb(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture{suffix}"
    two_colours().save(path)
    image = load_picture(path)
    assert (image.mode, image.size) == ("RGB", (32, 16))
    assert_near(image, (4, 8), RED)
    assert_near(image, (28, 8), BLUE)


def test_exif_rotation_is_applied(tmp_path: Path) -> None:
    path = tmp_path / "turned.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # "rotate 90 degrees clockwise to show"
    two_colours().save(path, exif=exif)
    image = load_picture(path)
    assert image.size == (16, 32)
    assert_near(image, (8, 4), RED)
    assert_near(image, (8, 28), BLUE)


def test_a_large_turned_jpeg_is_turned_also_when_decoded_smaller(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    two_colours().resize((4096, 2048)).save(path, exif=exif)
    image = load_picture(path, shrink_to_px=(512, 384))
    assert image.size == (1024, 2048)
    assert_near(image, (512, 100), RED)


def test_decoding_at_a_fraction_of_the_size_cannot_be_seen_in_the_result(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    blobs = Image.fromarray(rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)).resize((3600, 2400), Image.BICUBIC)
    path = tmp_path / "photograph.jpg"
    blobs.save(path, quality=95)
    full = np.asarray(load_picture(path).resize((512, 384), Image.BICUBIC), dtype=float)
    assert np.abs(squash(path, 384, 512) - full).mean() < 1.0


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    path = tmp_path / "print.jpg"
    two_colours(WHITE, (0, 0, 0)).convert("CMYK").save(path)
    image = load_picture(path)
    assert image.mode == "RGB"
    assert_near(image, (4, 8), WHITE)
    assert_near(image, (28, 8), (0, 0, 0))


def test_sixteen_bit_grey_keeps_its_brightness(tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    values = np.array([[0, 257 * 100, 65535]], dtype=np.uint16)
    Image.fromarray(values).save(path)
    assert np.asarray(load_picture(path))[0].tolist() == [[0, 0, 0], [100, 100, 100], [255, 255, 255]]


def test_float_tiff_is_taken_as_zero_to_one(tmp_path: Path) -> None:
    path = tmp_path / "float.tif"
    Image.fromarray(np.array([[0.0, 0.4, 1.0]], dtype=np.float32)).save(path)
    assert np.asarray(load_picture(path))[0, :, 0].tolist() == [0, 102, 255]


def test_grey_and_black_and_white_pictures_are_fine(tmp_path: Path) -> None:
    for mode in ("L", "1", "LA"):
        path = tmp_path / f"{mode}.png"
        Image.new(mode, (5, 4), (200, 255) if mode == "LA" else 1).save(path)
        assert load_picture(path).mode == "RGB"


def test_palette_with_transparency_lies_on_white(tmp_path: Path) -> None:
    path = tmp_path / "palette.gif"
    image = two_colours().convert("P", palette=Image.Palette.ADAPTIVE, colors=2)
    image.save(path, transparency=image.getpixel((28, 8)))
    shown = load_picture(path)
    assert_near(shown, (4, 8), RED)
    assert_near(shown, (28, 8), WHITE)


def test_half_transparent_picture_is_mixed_with_white(tmp_path: Path) -> None:
    path = tmp_path / "veil.png"
    Image.new("RGBA", (3, 3), (*RED, 128)).save(path)
    assert_near(load_picture(path), (1, 1), (255, 127, 127), within=1)


def test_of_an_animation_the_first_frame_counts(tmp_path: Path) -> None:
    for suffix in (".gif", ".webp", ".png"):
        path = tmp_path / f"film{suffix}"
        frames = [Image.new("RGB", (8, 8), colour) for colour in (GREEN, RED)]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=100)
        assert_near(load_picture(path), (4, 4), GREEN)


def test_one_pixel_is_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "dot.png"
    Image.new("RGB", (1, 1), GREEN).save(path)
    assert (squash(path, 384, 512) == GREEN).all()


def test_a_very_long_strip_is_squashed(tmp_path: Path) -> None:
    path = tmp_path / "strip.png"
    Image.new("RGB", (3000, 1), GREEN).save(path)
    assert (squash(path, 384, 512) == GREEN).all()


@pytest.mark.parametrize(("side", "words"), [(8_000, "8000×8000 px (64 megapixels)"), (20_000, "limit")])
def test_a_huge_picture_is_refused_before_decoding(side: int, words: str, tmp_path: Path, recwarn) -> None:
    path = tmp_path / "huge.png"
    path.write_bytes(png_header_of(side, side))
    with pytest.raises(InputError, match="limit") as caught:
        load_picture(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not recwarn.list


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    Image.new("RGB", (200, 100)).save(path)
    with pytest.raises(InputError, match=r"200×100 px .*limit is 0.01"):
        load_picture(path, max_megapixels=0.01)
    with pytest.raises(InputError, match=r"limit is 0\.01"):
        load_picture(np.zeros((100, 200), np.uint8), max_megapixels=0.01)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".gif", ".tif", ".avif"])
def test_a_truncated_file_is_an_input_error(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"cut{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=r"cut short|not a picture") as caught:
        load_picture(path)
    assert str(path) in str(caught.value)


def test_what_is_no_picture_is_an_input_error(tmp_path: Path) -> None:
    text = tmp_path / "words.jpg"
    text.write_text("not a picture")
    empty = tmp_path / "empty.png"
    empty.touch()
    for path in (text, empty):
        with pytest.raises(InputError, match="not a picture that Pillow can read"):
            load_picture(path)
    with pytest.raises(InputError, match="is a folder"):
        load_picture(tmp_path)
    with pytest.raises(InputError, match="there is no picture"):
        load_picture(tmp_path / "missing.png")
    with pytest.raises(InputError, match="got int"):
        load_picture(7)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(data=st.data(), suffix=st.sampled_from(["PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP", "PPM", "AVIF"]))
def test_a_damaged_file_is_decoded_or_an_input_error_and_nothing_else(data, suffix: str, tmp_path_factory) -> None:
    buffer = io.BytesIO()
    two_colours().save(buffer, format=suffix)
    damaged = bytearray(buffer.getvalue())
    places = st.lists(st.tuples(st.integers(0, len(damaged) - 1), st.integers(0, 255)), min_size=1, max_size=6)
    for place, value in data.draw(places):
        damaged[place] = value
    path = tmp_path_factory.mktemp("damaged") / "picture"
    path.write_bytes(bytes(damaged))
    with suppress(InputError):
        assert load_picture(path).mode == "RGB"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.full((2, 3), 7, np.uint8), 7),
        (np.full((2, 3, 1), 7, np.uint8), 7),
        (np.full((2, 3, 3), 0.2), 51),
        (np.full((2, 3, 3), 51.0), 51),
        (np.full((2, 3), 257 * 9, np.uint16), 9),
        (np.full((2, 3), 9, np.int64), 9),
        (np.ones((2, 3), bool), 255),
    ],
)
def test_arrays_of_any_number_type_become_eight_bits(values: np.ndarray, expected: int) -> None:
    pixels = np.asarray(load_picture(values))
    assert pixels.shape == (2, 3, 3)
    assert (pixels == expected).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((2, 3, 2)), "shape"),
        (np.zeros((0, 3)), "empty"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.full((2, 2), -1.0), "from -1 to -1"),
        (np.full((2, 2), 300.0), "expected 0 to 255"),
        (np.full((2, 2), 1e6, np.int64), "expected 0 to 65535"),
        (np.array([["a"]]), "expected numbers"),
    ],
)
def test_arrays_that_are_no_picture_are_input_errors(values: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_picture(values)


def test_a_given_pil_image_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    two_colours().resize((4096, 2048)).save(path)
    with Image.open(path) as image:
        squash(image, 384, 512)
        assert (image.mode, image.size) == ("RGB", (4096, 2048))


def test_flipping_mirrors_left_and_right() -> None:
    plain, flipped = squash(two_colours(), 24, 32), squash(two_colours(), 24, 32, flip=True)
    assert np.array_equal(plain[:, ::-1], flipped)
    assert not np.array_equal(plain, flipped)


def test_pictures_of_a_folder_are_found_sorted_and_by_suffix(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("z.JPG", "b/a.png", "notes.txt"):
        (tmp_path / name).touch()
    assert find_pictures(tmp_path) == [tmp_path / "b/a.png", tmp_path / "z.JPG"]
