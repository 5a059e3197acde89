"""`Image`: what it is made of, and how NumPy, DLPack and Pillow see it."""

import gc
import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from headrace import Image

DTYPES = [np.uint8, np.uint16, np.float32]


def ramp(shape: tuple[int, ...], dtype: type = np.uint8) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_from_array_and_back(dtype: type, channels: int) -> None:
    array = ramp((5, 7, channels), dtype)
    image = Image.from_array(array)
    assert (image.height, image.width, image.channels) == array.shape == image.shape
    assert image.dtype == np.dtype(dtype).name
    assert image.layout == "HWC"
    assert image.color == {1: "L", 3: "RGB", 4: "RGBA"}[channels]
    view = np.asarray(image)
    assert view.dtype == dtype
    np.testing.assert_array_equal(view, array)
    chw = Image.from_array(np.ascontiguousarray(array.transpose(2, 0, 1)), layout="chw")
    np.testing.assert_array_equal(np.asarray(chw), array)


def test_from_array_copies_strided_swapped_and_foreign() -> None:
    array = ramp((6, 8, 3), np.uint16)
    np.testing.assert_array_equal(np.asarray(Image.from_array(array[::2, ::-1])), array[::2, ::-1])
    np.testing.assert_array_equal(np.asarray(Image.from_array(array.astype(">u2"))), array)
    np.testing.assert_array_equal(
        np.asarray(Image.from_array(memoryview(bytes(range(24))).cast("B", (2, 4, 3)))).ravel(), range(24)
    )
    gray = ramp((3, 4))
    image = Image.from_array(gray)
    gray[:] = 9
    assert image.shape == (3, 4, 1)
    np.testing.assert_array_equal(np.asarray(image)[..., 0], ramp((3, 4)))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64, np.float16, bool, object])
def test_from_array_never_converts(dtype: type) -> None:
    with pytest.raises(TypeError, match="uint8, uint16 or float32"):
        Image.from_array(np.zeros((2, 2, 3), dtype))


@pytest.mark.parametrize(
    "shape", [(3,), (2, 2, 2), (2, 2, 5), (1, 2, 2, 3), (0, 2, 3), (2, 0), (16385, 1), (1, 16385, 3)]
)
def test_from_array_refuses_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="shape"):
        Image.from_array(np.zeros(shape, np.uint8))


def test_from_array_refuses_a_layout_and_too_many_bytes() -> None:
    with pytest.raises(ValueError, match="layout"):
        Image.from_array(np.zeros((2, 2, 3), np.uint8), layout="hcw")
    with pytest.raises(ValueError, match="bytes"):
        Image.from_array(np.broadcast_to(np.float32(0), (16384, 16384)))


def test_views_are_read_only_and_keep_the_picture() -> None:
    array = ramp((64, 64, 3))
    image = Image.from_array(array)
    views = [np.asarray(image), np.from_dlpack(image)]
    del image
    gc.collect()
    for view in views:
        assert not view.flags.writeable
        np.testing.assert_array_equal(view, array)


def test_dlpack_capsules() -> None:
    image = Image.from_array(ramp((2, 3, 3)))
    assert image.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(image.__dlpack__())
    assert '"dltensor_versioned"' in repr(image.__dlpack__(max_version=(1, 0)))
    copied = np.from_dlpack(image, copy=True)
    copied[:] = 0
    assert np.asarray(image).any()
    with pytest.raises(BufferError):
        image.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        image.__dlpack__(dl_device=(2, 0))


def test_unused_capsules_free_the_picture() -> None:
    psutil = pytest.importorskip("psutil")
    process = psutil.Process()
    image = Image.from_array(np.ones((1024, 1024, 4), np.uint8))
    image.__dlpack__(copy=True)
    before = process.memory_info().rss
    for version in [None, (1, 0)]:
        for _ in range(100):
            image.__dlpack__(copy=True, max_version=version)
    assert process.memory_info().rss - before < 64 << 20


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_and_pillow(channels: int, tmp_path: Path) -> None:
    array = ramp((9, 5, channels))
    image = Image.from_array(array)
    image.save(tmp_path / "a.png")
    for shown in [PIL.Image.open(tmp_path / "a.png"), PIL.Image.open(io.BytesIO(image._repr_png_())), image.to_pil()]:
        assert shown.mode == image.color
        np.testing.assert_array_equal(np.asarray(shown).reshape(array.shape), array)
    with pytest.raises(ValueError, match="png"):
        image.save(tmp_path / "a.jpg")


def test_float_and_deep_images_are_shown() -> None:
    float_image = Image.from_array(np.array([[0.0, 0.5, 1.0]], np.float32))
    assert list(PIL.Image.open(io.BytesIO(float_image._repr_png_())).tobytes()) == [0, 128, 255]
    deep = ramp((4, 4), np.uint16) * 200
    shown = PIL.Image.open(io.BytesIO(Image.from_array(deep)._repr_png_()))
    np.testing.assert_array_equal(np.asarray(shown), deep)
    with pytest.raises(ValueError, match="uint8"):
        float_image.to_pil()
