"""What a training run is told: TOML -> frozen dataclasses, every key checked by name. Knows no torch.

Config stops here: the rest of the trainer takes plain arguments.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import json
import tomllib
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bgai.evaluation.checkpoint import MOST_BYTES
from bgai.evaluation.encoding import Encoding, encoding, encoding_names
from bgai.evaluation.network import MOST_LAYERS, MOST_UNITS
from bgai.rules.outcome import OUTCOMES

MOST_GAMES = 10**12
MOST_BATCH_GAMES = 65_536  # some 4 million positions in memory
MOST_THREADS = 1024
MOST_MINIBATCH = 65_536
MOST_PASSES = 1000
MOST_EQUITY = 1000
CARD_BYTES = 1 << 20  # of a bot file for what is no weight


class ConfigError(ValueError):
    """A config says something that cannot be; the message names the key and what would be right."""


@dataclass(frozen=True)
class Run:
    """How much is played, by what."""

    games: int = 100_000
    """Self-play games of the whole run."""
    batch_games: int = 512
    """Games played in lockstep with one set of weights; batch k is played while batch k - 1 is learned from."""
    first_batch_games: int = 64
    """Size of the first batches; a batch is then at most a sixteenth of the games before it, up to batch_games."""
    scattered: float = 0.0
    """Share of the games that begin at scattered positions (train/starts.py) instead of the opening."""
    explore: float = 0.0
    """Share of the rolls at which not the best play is made but one that comes near."""
    sift: bool = False
    """Whether the sketch sifts the plays in self-play; it should be good by then, so in later stages."""
    workers: int = 1
    """Threads that play. The result of a run does not depend on it."""
    seed: int = 1
    """Seed of the first weights, the dice and the order of the samples."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Where the learner computes; playing is always on the CPU."""
    learner_threads: int = 1
    """Threads of the learner's matrix products."""


@dataclass(frozen=True)
class NetworkShape:
    """The value network."""

    encoding: str = "men196"
    """Name of the input encoding (bgai.evaluation.encoding)."""
    hidden: tuple[int, ...] = (80,)
    """Hidden layers, first to last."""
    sketch: tuple[int, ...] = ()
    """Hidden layers of a small network that learns from the main one what it says, of men196 inputs. Bots sift their
    plays by it, which makes large networks two or three times as fast. An empty list makes none."""
    start: str = ""
    """A bot file or run folder whose weights the run begins with, grown where `hidden` asks for more units or for one
    layer more, or `encoding` for more numbers behind the same ones; nothing begins with random weights."""
    revive: bool = False
    """Whether units of `start` and of its sketch that have died, as half of them may in a long run at a high rate,
    are brought to life (train.grow). Units that `hidden` asks for beyond those of `start` then begin so too, instead
    of as copies."""


@dataclass(frozen=True)
class Learning:
    """How the network follows its targets."""

    lambda_start: float = 0.7
    """λ of the λ-returns at the start: 0 trusts the next position's estimate alone, 1 the game's end alone."""
    lambda_end: float = 0.7
    """λ at the end; in between it changes evenly with the games."""
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """Adam, AdamW, or SGD with momentum 0.9."""
    minibatch: int = 256
    """Positions a step."""
    passes: int = 1
    """How often every batch of games is gone through."""
    rate_start: float = 1e-3
    """Learning rate at the start."""
    rate_end: float = 1e-5
    """Learning rate at the end of the schedule."""
    schedule: Literal["constant", "linear", "exponential", "cosine"] = "exponential"
    """How the rate goes from its start to its end over the games of the run."""
    rate_hold: float = 0.0
    """Share of the games before the schedule begins to lower the rate."""
    equity: float = 0.0
    """How much the squared error of equity counts beside the cross-entropy of the outcomes. That alone cares most for
    what is rare: an error of 0.01 costs it ten times more where a chance is 0.01 than where it is 0.1."""
    weight_decay: float = 0.0
    """Weight decay of the optimizer."""
    average: float = 0.999
    """Decay a step of the weight average that checkpoints are made of; 0 keeps no average."""
    play_average: bool = False
    """Self-play with the averaged weights instead of the newest."""
    without_luck: bool = False
    """Whether the luck of every roll, as the sketch measures it, is taken out of the λ-returns: they become twice as
    dear or more, with a tenth of the noise."""
    luck_by_network: bool = False
    """Whether the network itself measures that luck, the sketch only choosing which replies it values: a sixth of the
    noise that the sketch leaves, at nearly twice the time a game."""
    rivals: float = 0.0
    """Share of the rolls of which a second play, the one nearest to the play made, is looked at one roll ahead, so
    that the difference between the two is learned; needs `luck_by_network`."""
    rivalry: float = 0.0
    """How much the squared errors of these differences count."""
    committee: tuple[str, ...] = ()
    """Other bots, as `network.start` names them, whose values are averaged with the network's own in self-play. Their
    errors are partly others, so their mean is a better teacher than any one of them."""
    all_dice: float = 0.0
    """Share of the positions that are learned from, the mean over all 21 rolls being their target: 21 times as dear
    as a play, and free of the luck of the dice. 0 learns from all positions, with λ-returns."""


@dataclass(frozen=True)
class Report:
    """What is written down, and when."""

    metrics_games: int = 5_000
    """Games between two lines of metrics."""
    checkpoint_seconds: float = 60.0
    """Seconds between two resume points."""
    strength_first: int = 5_000
    """Games before the first strength measurement after the untrained one; each next one comes at `strength_factor`
    times as many games."""
    strength_factor: float = 2.0
    """See strength_first."""
    strength_games: int = 1_000
    """Duplicate games against each fixed opponent in a strength measurement; 0 measures nothing."""
    luckless: bool = False
    """Whether the luck of the dice, as the shipped strong bot sees it, is taken out of all scores: between good bots
    a twentieth of the games are as sure, and each takes three times as long."""
    opponents: tuple[str, ...] = ("random", "pubeval")
    """Fixed opponents; those whose package is not installed are left out."""
    final_games: int = 4_000
    """Duplicate games against each opponent, and between the levels, in the table at the end; 0 prints none."""
    final_opponents: tuple[str, ...] = ("random", "pubeval", "gnubg:0")
    """Fixed opponents of the table at the end; those whose package is not installed are left out."""


@dataclass(frozen=True)
class Export:
    """The graded bots that a run leaves in its folder; strong is always the last average."""

    beginner_games: int = 0
    """Games after which the weights are kept as the beginner; 0 exports no beginner."""
    normal_games: int = 0
    """Games after which the weights are kept as the normal bot; 0 exports none."""


@dataclass(frozen=True)
class Config:
    """A whole training run."""

    run: Run = field(default_factory=Run)
    network: NetworkShape = field(default_factory=NetworkShape)
    learning: Learning = field(default_factory=Learning)
    report: Report = field(default_factory=Report)
    export: Export = field(default_factory=Export)

    def to_toml(self) -> str:
        """The config as TOML that `from_toml` reads back to the same config."""
        lines = []
        for section in dataclasses.fields(self):
            lines.append(f"[{section.name}]")
            values = getattr(self, section.name)
            lines += [f"{f.name} = {_toml(getattr(values, f.name))}" for f in dataclasses.fields(values)]
            lines.append("")
        return "\n".join(lines)


def from_toml(text: str, overrides: typing.Sequence[str] = (), source: str = "config") -> Config:
    """A config from TOML text and `section.key=value` overrides. Raises ConfigError naming the key, and the override
    where the text alone would be right."""
    try:
        given = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
        raise ConfigError(f"{source} is not valid TOML: {error}") from None
    changed = copy.deepcopy(given)
    for override in overrides:
        _override(changed, override)
    try:
        return _config(changed, source)
    except ConfigError as error:
        sentence = str(error).removeprefix(f"{source}: ")
    _config(given, source)  # raises where the text itself is wrong
    named = [override for override in overrides if override.partition("=")[0].strip() in sentence]
    raise ConfigError(f"{', '.join(f'--set {override}' for override in named or overrides)}: {sentence}")


def _config(given: dict[str, Any], source: str) -> Config:
    sections = {f.name: f for f in dataclasses.fields(Config)}
    parts = {}
    for name, table in given.items():
        if name not in sections:
            raise ConfigError(f"{source}: there is no section [{name}]{_nearest(name, sections)}")
        if not isinstance(table, dict):
            raise ConfigError(f"{source}: {name} is a section, write [{name}] and its keys below")
        parts[name] = _section(table, typing.get_type_hints(Config)[name], f"{source}: {name}")
    config = Config(**parts)
    _check(config, source)
    return config


def find_config(name: str) -> Path:
    """The file of a config given as a path or as a name like "quick". Raises ConfigError."""
    folders = [Path(__file__).parent / "configs", Path(__file__).parent.parent / "configs"]
    for path in (Path(name), *(folder / f"{name}.toml" for folder in folders)):
        if path.is_file():
            return path
    known = sorted({path.stem for folder in folders for path in folder.glob("*.toml")})
    raise ConfigError(f"there is no config {name!r}: give a TOML file or one of {', '.join(known)}")


def _override(given: dict[str, Any], override: str) -> None:
    path, equals, value = override.partition("=")
    section, dot, key = path.strip().partition(".")
    if not equals or not dot or not section or not key:
        raise ConfigError(f"--set wants section.key=value, not {override!r}")
    try:
        parsed = tomllib.loads(f"x = {value.strip()}")["x"]
    except (ValueError, RecursionError):
        parsed = value.strip()
    table = given.setdefault(section, {})
    if not isinstance(table, dict):
        raise ConfigError(f"--set {override}: {section} is not a section")
    table[key] = parsed


def _section(table: dict[str, Any], kind: type, where: str) -> Any:
    hints = typing.get_type_hints(kind)
    for key in table:
        if key not in hints:
            raise ConfigError(f"{where}.{key} is unknown{_nearest(key, hints)}")
    return kind(**{key: _value(value, hints[key], f"{where}.{key}") for key, value in table.items()})


def _value(value: Any, kind: Any, where: str) -> Any:
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices:
            raise ConfigError(
                f"{where} should be one of {', '.join(choices)}, not {value!r}{_nearest(value, choices)}"
            )
        return value
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        if not isinstance(value, list):
            raise ConfigError(f"{where} should be a list, not {value!r}")
        return tuple(_value(item, inner, f"{where}[{i}]") for i, item in enumerate(value))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 1 << 1000 else value
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        names = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false"}
        raise ConfigError(f"{where} should be {names[kind]}, not {value!r}")
    return value


def _nearest(word: object, known: typing.Iterable[str]) -> str:
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.4)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"


def _check(config: Config, source: str) -> None:
    run, network, learning, report = config.run, config.network, config.learning, config.report
    _require(
        1 <= run.games <= MOST_GAMES,
        f"{source}: run.games should be from 1 to {MOST_GAMES}, not {run.games}",
    )
    _require(
        1 <= run.batch_games <= MOST_BATCH_GAMES,
        f"{source}: run.batch_games should be from 1 to {MOST_BATCH_GAMES}, not {run.batch_games}",
    )
    _require(
        1 <= run.first_batch_games <= run.batch_games,
        f"{source}: run.first_batch_games should be from 1 to run.batch_games, not {run.first_batch_games}",
    )
    for key in ("workers", "learner_threads"):
        value = getattr(run, key)
        _require(1 <= value <= MOST_THREADS, f"{source}: run.{key} should be from 1 to {MOST_THREADS}, not {value}")
    _require(0 <= run.seed < 2**63, f"{source}: run.seed should be from 0 to 2^63 - 1, not {run.seed}")
    if network.encoding not in encoding_names():
        near = _nearest(network.encoding, encoding_names())
        raise ConfigError(f"{source}: network.encoding {network.encoding!r} is unknown{near}")
    sizes_right = 1 <= len(network.hidden) < MOST_LAYERS and all(1 <= size <= MOST_UNITS for size in network.hidden)
    _require(
        sizes_right,
        f"{source}: network.hidden should list 1 to {MOST_LAYERS - 1} sizes from 1 to {MOST_UNITS}, "
        f"not {list(network.hidden)}",
    )
    sketch_right = len(network.sketch) < MOST_LAYERS and all(1 <= size <= MOST_UNITS for size in network.sketch)
    _require(
        sketch_right,
        f"{source}: network.sketch should list at most {MOST_LAYERS - 1} sizes from 1 to {MOST_UNITS}, "
        f"not {list(network.sketch)}",
    )
    size = _weight_bytes(encoding(network.encoding), network.hidden)
    size += _weight_bytes(encoding("men196"), network.sketch) if network.sketch else 0
    _require(
        size + CARD_BYTES <= MOST_BYTES,
        f"{source}: network.hidden {list(network.hidden)} and network.sketch {list(network.sketch)} make bot files "
        f"of {size / 2**20:,.0f} MiB; bgai reads none above {MOST_BYTES >> 20:,}",
    )
    _require(
        network.start.isprintable(),
        f"{source}: network.start should be a name of printable text, not {network.start!r}",
    )
    _require(
        network.start or not network.revive, f"{source}: network.revive needs network.start, whose units it revives"
    )
    for key, asked in (("run.sift", run.sift), ("learning.without_luck", learning.without_luck)):
        _require(network.sketch or not asked, f"{source}: {key} needs a sketch, say network.sketch = [256, 32]")
    _require(
        learning.without_luck or not learning.luck_by_network,
        f"{source}: learning.luck_by_network says how learning.without_luck measures; set that, too",
    )
    _require(
        learning.luck_by_network or not learning.rivals,
        f"{source}: learning.rivals needs learning.luck_by_network, which looks at the plays made one roll ahead",
    )
    _require(
        not (learning.all_dice and learning.without_luck),
        f"{source}: learning.all_dice leaves no luck that learning.without_luck could take away; leave one out",
    )
    for key in ("scattered", "explore"):
        value = getattr(run, key)
        _require(0 <= value <= 1, f"{source}: run.{key} should be from 0 to 1, not {value}")
    for key in ("lambda_start", "lambda_end", "rate_hold", "all_dice", "rivals"):
        value = getattr(learning, key)
        _require(0 <= value <= 1, f"{source}: learning.{key} should be from 0 to 1, not {value}")
    for key in ("rate_start", "rate_end"):
        value = getattr(learning, key)
        _require(0 < value < 10, f"{source}: learning.{key} should be above 0 and below 10, not {value}")
    _require(0 <= learning.average < 1, f"{source}: learning.average should be from 0 to below 1")
    decay = learning.weight_decay
    _require(0 <= decay < 10, f"{source}: learning.weight_decay should be from 0 to below 10, not {decay}")
    for key in ("equity", "rivalry"):
        value = getattr(learning, key)
        _require(
            0 <= value <= MOST_EQUITY, f"{source}: learning.{key} should be from 0 to {MOST_EQUITY}, not {value}"
        )
    _require(
        learning.rivals or not learning.rivalry,
        f"{source}: learning.rivalry needs a share of the rolls, say learning.rivals = 0.33",
    )
    for key, most in (("minibatch", MOST_MINIBATCH), ("passes", MOST_PASSES)):
        value = getattr(learning, key)
        _require(1 <= value <= most, f"{source}: learning.{key} should be from 1 to {most}, not {value}")
    _require(report.metrics_games >= 1, f"{source}: report.metrics_games should be at least 1")
    _require(report.strength_first >= 1, f"{source}: report.strength_first should be at least 1")
    _require(report.strength_factor >= 1.1, f"{source}: report.strength_factor should be at least 1.1")
    _require(report.checkpoint_seconds >= 0, f"{source}: report.checkpoint_seconds should not be negative")
    for key in ("strength_games", "final_games"):
        value = getattr(report, key)
        right = value == 0 or value >= 4 and value % 2 == 0  # one pair alone has no interval
        _require(right, f"{source}: report.{key} should be 0 or an even number from 4 on, not {value}")
    for key in ("beginner_games", "normal_games"):
        value = getattr(config.export, key)
        _require(
            0 <= value < run.games or not value,
            f"{source}: export.{key} should be below run.games ({run.games}), not {value}",
        )


def _weight_bytes(inputs: Encoding, hidden: typing.Sequence[int]) -> int:
    """Of a network's float32 weights and biases; the encoding's extras stand behind the first hidden layer."""
    widths = [inputs.width, hidden[0] + inputs.extras, *hidden[1:]]
    return 4 * sum((before + 1) * units for before, units in zip(widths, [*hidden, OUTCOMES], strict=True))


def _require(right: object, sentence: str) -> None:
    if not right:
        raise ConfigError(sentence)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's
    return repr(value)
