"""Who may import whom, what `import bgai` brings in, and what a built wheel holds."""

import ast
import itertools
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.network import Network

HOUSE = Path(__file__).resolve().parent.parent

# A room may import itself and the rooms above it in this list; rooms on one line do not import each other.
ORDER: list[tuple[str, ...]] = [
    ("bgai.files", "bgai.jit_cache", "bgai.progress"),
    ("bgai.rules",),
    ("bgai.notation", "bgai.evaluation"),
    ("bgai.bots", "bgai.referees", "bgai.gnubg_program", "bgai.engines"),
    ("bgai.arena",),
    ("bgai.frontends",),
    ("bgai.cli",),
    ("bgai.public",),
    ("bgai", "bgai.__main__"),
    ("train",),
]
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}
# Referees and engines are bots, and `open_bot` opens them by name: they stand side by side.
BESIDE = set(itertools.permutations(("bgai.bots", "bgai.referees", "bgai.gnubg_program", "bgai.engines"), 2))
# What `import bgai` offers comes from these; it is no reason to load a room of commands.
OFFERED = {"bgai.bots", "bgai.evaluation", "bgai.notation", "bgai.rules"}


def module_name(path: Path) -> str:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path for package in ("bgai", "train") for path in sorted((HOUSE / package).rglob("*.py"))
}


def imports(path: Path) -> set[str]:
    """Everything that a file imports, anywhere in it, as full module names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else str(node.module))
    return found


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def room(module: str) -> str:
    """The room of a module: "bgai.rules.dice" is in "bgai.rules"."""
    parts = module.split(".")
    return "train" if parts[0] == "train" else ".".join(parts[:2])


def run_python(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """A fresh Python away from the checkout, warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_module_has_a_room():
    assert {room(module) for module in MODULES} <= FLOOR.keys()


def may_import(module: str, imported: str) -> bool:
    """Whether the list of rooms allows it; both are modules of the house."""
    here, there = room(module), room(imported)
    if module == "bgai":
        return there == "bgai.public"
    if module == "bgai.public":
        return there in OFFERED
    if module == "train.__main__":
        return there == "bgai.__main__"
    if there == "bgai.cli":
        return here == "bgai.__main__"
    if there == "bgai":
        return here == "train"
    return here == there or (here, there) in BESIDE or FLOOR[there] < FLOOR[here]


def test_imports_run_downward():
    assert [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in sorted(imports(path))
        if imported.split(".")[0] in ("bgai", "train") and not may_import(module, imported)
    ] == []


def test_the_runtime_never_imports_the_trainer():
    assert [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in sorted(imports(path))
        if module.split(".")[0] == "bgai" and imported.split(".")[0] in ("torch", "tensorboard", "train")
    ] == []


def test_modules_that_say_they_know_no_torch_do_not():
    saying = [module for module, path in MODULES.items() if "no torch" in docstring(path)]
    assert "train.config" in saying
    for module in saying:
        seen, coming = set(), [module]
        while coming:
            now = coming.pop()
            seen.add(now)
            imported = imports(MODULES[now])
            assert "torch" not in {name.split(".")[0] for name in imported}, f"{module} comes to torch by {now}"
            coming += [name for name in imported if name in MODULES and name not in seen]


def test_a_module_says_first_what_it_does():
    assert [module for module, path in MODULES.items() if path.stat().st_size and not docstring(path)] == []


def test_importing_any_module_does_nothing(tmp_path):
    names = [module for module in MODULES if not module.endswith("__main__")]
    code = f"import importlib\nfor name in {names}: importlib.import_module(name)"
    done = run_python("-c", code, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def bot_file(tmp_path) -> Path:
    """A bot with random weights."""
    inputs = encoding("men196")
    rng = np.random.default_rng(0)
    layers = tuple(
        (rng.normal(0, 0.1, (m, n)).astype(np.float32), np.zeros(m, dtype=np.float32))
        for n, m in ((inputs.width, 20), (20, 6))
    )
    save_checkpoint(tmp_path / "wild.safetensors", Network(inputs, layers), {})
    return tmp_path / "wild.safetensors"


def test_what_bgai_offers_is_there_at_once(tmp_path):
    assert "Position" in bgai.__all__
    assert all(hasattr(bgai, name) for name in bgai.__all__)
    assert set(bgai.__all__) <= set(dir(bgai))
    with pytest.raises(AttributeError, match="module 'bgai' has no attribute 'Positon'"):
        bgai.Positon  # noqa: B018
    code = (
        "from bgai import *\nprint(Position.start().id, parse_play)\nimport bgai\nprint(bgai.bots, bgai.rules.plays)"
    )
    done = run_python("-c", code, folder=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("4HPwATDgc/ABMA "), done.stderr


KERNEL = """
import sys, tempfile
from pathlib import Path
if {no_place}:
    tempfile.tempdir = "/nowhere/at/all"
import bgai
from bgai.rules.dice import roll
kept = Path(tempfile.gettempdir()).rglob("*.nb?")
print(*roll(1, 2, 3), sum(roll.stats.cache_hits.values()), *sorted({{path.suffix for path in kept}}))
"""


def test_kernels_without_a_place_in_the_package_or_the_home(tmp_path):
    """A file where `__pycache__` should be stops everybody, the administrator too."""
    for package in ("bgai", "train"):
        shutil.copytree(HOUSE / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "web"))
        for folder in {path.parent for path in (tmp_path / package).rglob("*.py")}:
            (folder / "__pycache__").write_text("")
    (tmp_path / "temporary").mkdir()
    where = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": str(tmp_path / "temporary")}

    def run(no_place):
        words = [sys.executable, "-c", KERNEL.format(no_place=no_place)]
        environment = {**os.environ, **where, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    first, second, without = run(False), run(False), run(True)
    dice = first.stdout.split()[:2]
    assert (first.returncode, first.stderr, first.stdout.split()) == (0, "", [*dice, "0", ".nbc", ".nbi"])
    assert (second.returncode, second.stderr, second.stdout.split()[:3]) == (0, "", [*dice, "1"])
    assert (without.returncode, without.stdout.split()) == (0, [*dice, "0"])
    assert without.stderr.count("bgai finds no folder to keep compiled code in") == 1
    # What others can write to is not trusted: numba unpickles it.
    [folder] = (tmp_path / "temporary").iterdir()
    folder.chmod(0o777)
    assert "bgai finds no folder" in run(False).stderr


PLAY = """
import sys, bgai
bot = bgai.load({bot!r})
print(bot.choose(bgai.Position.start(), (3, 1)))
loaded = {{name.split(".")[0] for name in sys.modules}}
print(*sorted(loaded & {{"torch", "tensorboard", "train", "gnubg_nn", "bgsage"}}))
"""


def test_a_bot_plays_in_a_fresh_process_without_torch(bot_file, tmp_path):
    done = run_python("-c", PLAY.format(bot=str(bot_file)), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    play, loaded = done.stdout.splitlines()
    assert play in map(str, bgai.legal_plays(bgai.Position.start(), (3, 1)))
    assert loaded == ""


COMMAND = """
import sys
from bgai.cli import main
try:
    main({words})
finally:
    print("torch" in sys.modules)
"""


def test_commands_that_do_not_train_load_no_torch(bot_file, tmp_path):
    for words in (["info", str(bot_file)], ["arena", str(bot_file), "random", "--games", "2"], ["train", "--help"]):
        done = run_python("-c", COMMAND.format(words=words), folder=tmp_path)
        assert done.stdout.splitlines()[-1] == "False", done.stderr


@pytest.mark.slow
def test_a_wheel_holds_bots_and_configs_and_works_elsewhere(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(tmp_path), str(HOUSE)]
    subprocess.run(build, check=True, timeout=300)
    [wheel] = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(HOUSE)) for path in MODULES.values()}
    assert sources <= names
    assert {f"bgai/checkpoints/{level}.safetensors" for level in ("beginner", "normal", "strong")} <= names
    assert {"train/configs/quick.toml", "bgai/frontends/web/bgai/bgai.js"} <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith(("tests", "runs", "docs"))}

    target = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--quiet", "--target", str(target), str(wheel)], check=True)
    code = (
        PLAY.format(bot="strong") + "from train.config import find_config\nprint(find_config('quick'), bgai.__file__)"
    )
    done = run_python("-c", code, folder=tmp_path, PYTHONPATH=str(target))
    assert (done.returncode, done.stderr) == (0, "")
    play, loaded, config_and_package = done.stdout.splitlines()
    assert (play, loaded) == ("8/5 6/5", "")
    assert config_and_package == f"{target}/train/configs/quick.toml {target}/bgai/__init__.py"
