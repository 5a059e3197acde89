"""`ImageCollator` and `ImageBatch`: one buffer a batch, used again only when nobody looks at it."""

import gc
import pickle
import threading

import numpy as np
import pytest

from headrace import DataLoader, Image, ImageBatch, ImageCollator

DTYPES = [np.uint8, np.uint16, np.float32]


def image(value: int, shape: tuple[int, ...] = (4, 6, 3), dtype: type = np.uint8) -> Image:
    return Image.from_array((np.arange(np.prod(shape)) + value).astype(dtype).reshape(shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_both_layouts_equal_numpy_stack(dtype: type, channels: int) -> None:
    images = [image(n, (4, 6, channels), dtype) for n in range(5)]
    expected = np.stack([np.asarray(item) for item in images])
    batch = ImageCollator("NHWC")(images)
    assert (batch.shape, batch.layout, batch.dtype) == (expected.shape, "NHWC", np.dtype(dtype).name)
    np.testing.assert_array_equal(np.asarray(batch), expected)
    batch = ImageCollator(dtype=np.dtype(dtype).name)(images)
    assert (batch.shape, batch.layout, len(batch)) == ((5, channels, 4, 6), "NCHW", 5)
    np.testing.assert_array_equal(np.asarray(batch), expected.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(np.from_dlpack(batch), expected.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(np.asarray(batch[-1]), expected[-1].transpose(2, 0, 1))


def test_metadata_comes_as_lists() -> None:
    batch, names, numbers = ImageCollator()([(image(0), "a", 1), (image(1), "b", 2)])
    assert isinstance(batch, ImageBatch)
    assert (names, numbers) == (["a", "b"], [1, 2])


def test_refusals() -> None:
    collate = ImageCollator(dtype="float32")
    with pytest.raises(ValueError, match="no items"):
        collate([])
    with pytest.raises(ValueError, match="expected images of float32, found uint8"):
        collate([image(0)])
    with pytest.raises(ValueError, match=r"item 0 is 4x6 RGB uint8, item 1 is 4x5 RGB uint8"):
        ImageCollator()([image(0), image(0, (4, 5, 3))])
    with pytest.raises(ValueError, match="item 1 is 4x6 RGBA"):
        ImageCollator()([image(0), image(0, (4, 6, 4))])
    with pytest.raises(TypeError, match="ndarray as item 1"):
        ImageCollator()([image(0), np.zeros((4, 6, 3), np.uint8)])
    with pytest.raises(ValueError, match="tuples"):
        ImageCollator()([(image(0), 1), image(1)])
    for arguments in [{"layout": "CHW"}, {"dtype": "float64"}, {"buffers": -1}, {"buffers": True}]:
        with pytest.raises(ValueError, match=next(iter(arguments))):
            ImageCollator(**arguments)  # type: ignore[arg-type]


def address(batch: ImageBatch) -> int:
    return batch.__array_interface__["data"][0]


def test_buffers_are_aligned_and_reused() -> None:
    collate = ImageCollator(buffers=1)
    first = collate([image(0)])
    place = address(first)
    assert place % 64 == 0
    del first
    second = collate([image(1)])
    assert address(second) == place
    assert address(collate([image(2)])) != place


@pytest.mark.parametrize("view_of", [np.asarray, np.from_dlpack], ids=["array interface", "dlpack"])
def test_a_kept_view_is_never_written_again(view_of: object) -> None:
    collate = ImageCollator("NHWC", buffers=2)
    views = []
    for value in range(10):
        batch = collate([image(value), image(value + 1)])
        if value % 3 == 0:
            views.append((value, view_of(batch)))  # type: ignore[operator]
        del batch
        gc.collect()
    del collate
    for value, view in views:
        np.testing.assert_array_equal(view[0], np.asarray(image(value)))


def test_writing_into_a_batch_is_seen_by_every_view() -> None:
    batch = ImageCollator()([image(0)])
    one, other = np.asarray(batch), np.from_dlpack(batch)
    assert one.flags.writeable and other.flags.writeable
    one[:] = 7
    assert (other == 7).all()
    assert (np.asarray(batch[0]) == 7).all()
    copied = np.from_dlpack(batch, copy=True)
    copied[:] = 1
    assert (one == 7).all()


def test_a_view_outlives_the_loader_and_moves_between_threads() -> None:
    images = [image(n) for n in range(12)]
    loader = DataLoader(images, batch_size=4, num_workers=2, collate_fn=ImageCollator("NHWC", buffers=2))
    views = [np.from_dlpack(batch) for batch in loader]
    loader.close()
    del loader
    gc.collect()
    sums: list[int] = []
    thread = threading.Thread(target=lambda: sums.append(sum(int(view.sum()) for view in views)))
    thread.start()
    thread.join()
    views.clear()
    assert sums == [sum(int(np.asarray(item).sum()) for item in images)]


def test_threads_share_one_collator() -> None:
    collate = ImageCollator("NHWC", buffers=2)
    wrong: list[int] = []

    def work(value: int) -> None:
        for _ in range(200):
            view = np.asarray(collate([image(value)] * 3))
            if not (view == np.asarray(image(value))).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_contact_sheet_and_pillow(tmp_path: object) -> None:
    batch = ImageCollator()([image(n) for n in range(3)])
    assert batch._repr_png_().startswith(b"\x89PNG")
    np.testing.assert_array_equal(np.asarray(batch.to_pil()[2]), np.asarray(image(2)))


def test_it_is_pickled_without_its_buffers() -> None:
    collate = pickle.loads(pickle.dumps(ImageCollator("NHWC", "uint8", 3)))
    assert repr(collate) == "ImageCollator(layout='NHWC', dtype='uint8', buffers=3)"
    assert collate([image(0)]).layout == "NHWC"
