"""Bot files: to the bit, never half written, never running code, and a sentence for every wrong file."""

import json
import os
import pickle
import struct

import numpy as np
import pytest
import safetensors.numpy

import bgai
from bgai.bots import find_bot_file
from bgai.evaluation.checkpoint import InvalidCheckpoint, load_checkpoint, save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.network import Network

CARD = {"name": "tiny", "games": 12, "description": "für die Probe ⚂", "strength": {"random": {"games": 4}}}


def tiny_network(hidden=(3,), name="men196", seed=0):
    rng = np.random.default_rng(seed)
    sizes = [encoding(name).width, *hidden, 6]
    layers = tuple(
        (rng.normal(size=(m, n)).astype(np.float32), rng.normal(size=m).astype(np.float32))
        for n, m in zip(sizes, sizes[1:], strict=False)
    )
    return Network(encoding(name), layers)


@pytest.fixture
def bot_file(tmp_path):
    path = tmp_path / "tiny.safetensors"
    save_checkpoint(path, tiny_network(), CARD)
    return path


def parts_of(path):
    """Tensors and metadata of a bot file, to write a wrong one with."""
    with safetensors.safe_open(path, framework="numpy") as opened:
        return {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata()  # noqa: SIM118


def refused(path, *words):
    """Loading fails with one sentence that names the file and holds the words."""
    with pytest.raises(InvalidCheckpoint) as caught:
        load_checkpoint(path)
    sentence = str(caught.value)
    assert path.name in sentence and "\n" not in sentence
    for word in words:
        assert word in sentence, sentence
    return sentence


@pytest.mark.parametrize("name, hidden", [("men196", (3,)), ("men292", (5, 4, 2))])
def test_round_trip_to_the_bit(tmp_path, name, hidden):
    network = tiny_network(hidden, name)
    network.layers[0][0][0, :4] = [-0.0, 1e-45, 1e9, 1 / 3]
    save_checkpoint(tmp_path / "bot.safetensors", network, CARD)
    loaded, card = load_checkpoint(tmp_path / "bot.safetensors")
    assert loaded.encoding.name == name and loaded.hidden == hidden and card == CARD
    for (weights, bias), (weights_there, bias_there) in zip(network.layers, loaded.layers, strict=True):
        assert weights.tobytes() == weights_there.tobytes() and weights.shape == weights_there.shape
        assert bias.tobytes() == bias_there.tobytes()


def test_weights_of_half_precision_take_half_the_room_and_are_the_same(tmp_path):
    network = tiny_network((40, 200, 100))
    for name, each in (("whole", network), ("half", network.halved())):
        save_checkpoint(tmp_path / name, each, CARD)
        found, _ = load_checkpoint(tmp_path / name)
        for mine, theirs in zip(each.layers, found.layers, strict=True):
            assert all(
                a.tobytes() == b.tobytes() and b.dtype == np.float32 for a, b in zip(mine, theirs, strict=True)
            )
    sizes = {name: (tmp_path / name).stat().st_size for name in ("whole", "half")}
    assert sizes["whole"] - sizes["half"] == pytest.approx(2 * (40 * 200 + 200 * 100), abs=64)  # and the header


def test_saving_what_was_loaded_gives_the_same_content(tmp_path, bot_file):
    again = tmp_path / "again.safetensors"
    save_checkpoint(again, *load_checkpoint(bot_file))
    tensors, metadata = parts_of(bot_file)
    tensors_again, metadata_again = parts_of(again)
    assert metadata == metadata_again and again.stat().st_size == bot_file.stat().st_size
    assert {n: t.tobytes() for n, t in tensors.items()} == {n: t.tobytes() for n, t in tensors_again.items()}


def test_the_file_says_what_it_is(bot_file):
    tensors, metadata = parts_of(bot_file)
    assert sorted(tensors) == ["layer0.bias", "layer0.weight", "layer1.bias", "layer1.weight"]
    assert tensors["layer0.weight"].shape == (3, 196)
    assert {key: metadata[key] for key in ("format", "version", "encoding")} == {
        "format": "bgai-bot",
        "version": "1",
        "encoding": "men196",
    }
    assert json.loads(metadata["card"]) == CARD


def test_bot_of_a_file_plays(bot_file):
    bot = bgai.load(bot_file)
    assert bot.name == "tiny" and bot.card == CARD
    assert bot.choose(bgai.Position.start(), (3, 1)) in bgai.legal_plays(bgai.Position.start(), (3, 1))


# --- wrong files


@pytest.mark.parametrize("wrong", ["missing.safetensors", "."])
def test_no_file(tmp_path, wrong):
    with pytest.raises(FileNotFoundError, match="there is no bot file"):
        load_checkpoint(tmp_path / wrong)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x",
        b"not a bot\n" * 100,
        b"\x00" * 64,
        b"PK\x03\x04" + b"\x00" * 100,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**40) + b"{}" * 100,
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 0),
        struct.pack("<Q", 200_000) + b"[" * 200_000,
    ],
    ids=["empty", "byte", "text", "zeros", "zip", "huge", "large", "object", "array", "none", "nested"],
)
def test_content_of_another_kind(tmp_path, content):
    path = tmp_path / "wrong.safetensors"
    path.write_bytes(content)
    refused(path)


def test_every_cut_is_noticed(tmp_path, bot_file):
    whole = bot_file.read_bytes()
    path = tmp_path / "cut.safetensors"
    for length in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 4, len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path)
    path.write_bytes(whole + b"\x00")
    refused(path)


def test_any_changed_byte_loads_or_is_refused(tmp_path, bot_file):
    whole = bot_file.read_bytes()
    rng = np.random.default_rng(1)
    path = tmp_path / "changed.safetensors"
    header = 8 + struct.unpack("<Q", whole[:8])[0]
    for at in [*range(8), *rng.integers(8, header, 300), *rng.integers(header, len(whole), 50)]:
        changed = bytearray(whole)
        changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            load_checkpoint(path)
        except InvalidCheckpoint as error:
            assert path.name in str(error)


class Planted:
    """Unpickling this makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_a_pickle_is_never_run(tmp_path, bot_file):
    trap = tmp_path / "trap"
    path = tmp_path / "pickle.safetensors"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Planted(trap), protocol=protocol))
        refused(path)
    tensors, metadata = parts_of(bot_file)
    card = pickle.dumps(Planted(trap), protocol=0).decode()
    safetensors.numpy.save_file(tensors, path, metadata={**metadata, "card": card})
    refused(path, "card is not JSON")
    assert not trap.exists()
    pickle.loads(pickle.dumps(Planted(trap)))
    assert trap.exists(), "the trap itself works"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": None}, ["no bgai bot", "format"]),
        ({"format": "other"}, ["no bgai bot"]),
        ({"version": "2"}, ["version '2'", "'1'"]),
        ({"version": None}, ["version None"]),
        ({"encoding": "men999"}, ["men999", "men196"]),
        ({"encoding": None}, ["encoding"]),
        ({"encoding": "men292"}, ["layer 0", "292"]),
        ({"card": "{"}, ["card is not JSON"]),
        ({"card": "[1]"}, ["card is not a JSON object"]),
        ({"card": "[" * 100_000}, ["card is not JSON"]),
    ],
    ids=str,
)
def test_wrong_metadata(tmp_path, bot_file, change, words):
    tensors, metadata = parts_of(bot_file)
    changed = {key: value for key, value in {**metadata, **change}.items() if value is not None}
    path = tmp_path / "changed.safetensors"
    safetensors.numpy.save_file(tensors, path, metadata=changed)
    refused(path, *words)


def test_safetensors_of_something_else(tmp_path):
    path = tmp_path / "other.safetensors"
    safetensors.numpy.save_file({"embedding": np.zeros((2, 2), dtype=np.float32)}, path)
    refused(path, "no bgai bot")


def with_value(array, value):
    changed = array.copy()
    changed.flat[-1] = value
    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop("layer0.weight"), ["whole layers", "layer0.weight"]),
        (lambda t: [t.pop("layer0.weight"), t.pop("layer0.bias")], ["whole layers"]),
        (lambda t: [t.pop("layer1.weight"), t.pop("layer1.bias")], ["2 to 16 layers"]),
        (lambda t: t.clear(), ["2 to 16 layers"]),
        (lambda t: t.update(extra=np.zeros(1, dtype=np.float32)), ["extra"]),
        (lambda t: t.update({"layer0.weight": t["layer0.weight"][:, :-1]}), ["layer 0", "196"]),
        (lambda t: t.update({"layer0.bias": t["layer0.bias"][:-1]}), ["layer 0"]),
        (lambda t: t.update({"layer1.weight": t["layer1.weight"].T}), ["layer 1"]),
        (lambda t: t.update({"layer1.weight": t["layer1.weight"][:5], "layer1.bias": t["layer1.bias"][:5]}), ["6"]),
        (lambda t: t.update({"layer1.bias": t["layer1.bias"][None]}), ["dimensions"]),
        (lambda t: t.update({"layer0.bias": np.float32(1)[None].reshape(())}), ["dimensions"]),
        (lambda t: t.update({"layer0.weight": t["layer0.weight"].astype(np.float64)}), ["float64"]),
        (lambda t: t.update({"layer0.weight": t["layer0.weight"].astype(np.int32)}), ["int32"]),
        (lambda t: t.update({"layer0.weight": with_value(t["layer0.weight"], np.nan)}), ["layer 0", "not finite"]),
        (lambda t: t.update({"layer1.bias": with_value(t["layer1.bias"], -np.inf)}), ["layer 1", "not finite"]),
        (lambda t: t.update({"layer0.weight": with_value(t["layer0.weight"], 3e38)}), ["layer 0", "so large"]),
        (lambda t: t.update({"layer1.bias": with_value(t["layer1.bias"], -2e32)}), ["layer 1", "so large"]),
    ],
)
def test_wrong_tensors(tmp_path, bot_file, change, words):
    tensors, metadata = parts_of(bot_file)
    change(tensors)
    path = tmp_path / "changed.safetensors"
    tensors = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in tensors.items()}
    safetensors.numpy.save_file(tensors, path, metadata=metadata)
    refused(path, *words)


# --- writing


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, bot_file, monkeypatch, step):
    before = bot_file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(bot_file, tiny_network(seed=9), {})
    assert bot_file.read_bytes() == before
    assert os.listdir(tmp_path) == [bot_file.name]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, bot_file, monkeypatch):
    before = bot_file.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(bot_file, tiny_network(seed=9), {})
    assert bot_file.read_bytes() == before
    assert os.listdir(tmp_path) == [bot_file.name]


def test_a_card_that_is_no_json_writes_nothing(tmp_path):
    with pytest.raises(TypeError):
        save_checkpoint(tmp_path / "bot.safetensors", tiny_network(), {"when": object()})
    assert os.listdir(tmp_path) == []


def test_no_folder_to_write_to(tmp_path):
    with pytest.raises(OSError):
        save_checkpoint(tmp_path / "nowhere" / "bot.safetensors", tiny_network(), {})


def test_a_flipped_bit_in_the_weights_is_told(tmp_path):
    path = tmp_path / "bot.safetensors"
    save_checkpoint(path, load_checkpoint(find_bot_file("normal")).network, {"name": "x"})
    whole = bytearray(path.read_bytes())
    load_checkpoint(path)
    for at in (len(whole) - 1, len(whole) // 2, len(whole) - 4_000):
        damaged = whole.copy()
        damaged[at] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(InvalidCheckpoint, match="damaged: its weights are not those that were saved"):
            load_checkpoint(path)
