"""Configs: every wrong word is named, with what would be right; text and values go round without loss."""

import dataclasses
from pathlib import Path

import pytest

from train.config import Config, ConfigError, Export, Learning, NetworkShape, Report, Run, find_config, from_toml

CONFIGS = sorted((Path(__file__).parent.parent / "configs").glob("*.toml"))


def refused(text, *words, overrides=()):
    with pytest.raises(ConfigError) as caught:
        from_toml(text, overrides, source="my.toml")
    sentence = str(caught.value)
    assert "\n" not in sentence
    for word in words:
        assert word in sentence, sentence


def test_an_empty_config_is_the_defaults():
    assert from_toml("") == Config()


def test_values_arrive():
    config = from_toml(
        """
        [run]
        games = 2_000
        device = "cpu"
        [network]
        encoding = "men292"
        hidden = [64, 32]
        [learning]
        lambda_start = 1
        optimizer = "sgd"
        play_average = true
        [report]
        opponents = []
        [export]
        beginner_games = 1999
        """
    )
    assert config.run == Run(games=2000)
    assert config.network == NetworkShape(encoding="men292", hidden=(64, 32))
    assert config.learning == Learning(lambda_start=1.0, optimizer="sgd", play_average=True)
    assert isinstance(config.learning.lambda_start, float)
    assert config.report == Report(opponents=()) and config.export == Export(beginner_games=1999)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[lerning]", ["[lerning]", "did you mean 'learning'?"]),
        ("[zzz]", ["[zzz]", "known: run, network, learning, report, export"]),
        ("run = 3", ["run is a section", "[run]"]),
        ("[[run]]\ngames = 3", ["run is a section"]),
        ("games = 3", ["[games]"]),
        ("[run]\ngmaes = 3", ["run.gmaes", "did you mean 'games'?"]),
        ("[run]\ngames = 'many'", ["run.games", "a whole number", "'many'"]),
        ("[run]\ngames = 3.0", ["run.games", "a whole number"]),
        ("[run]\ngames = true", ["run.games", "a whole number"]),
        ("[run]\ngames = [3]", ["run.games", "a whole number"]),
        ("[run.games]\nx = 3", ["run.games", "a whole number"]),
        ("[run]\ngames = 2024-01-01", ["run.games", "a whole number"]),
        ("[run]\ndevice = 'gpu'", ["run.device", "cpu, cuda, mps", "'gpu'"]),
        ("[run]\ndevice = 1", ["run.device", "cpu, cuda, mps"]),
        ("[network]\nencoding = 196", ["network.encoding", "text"]),
        ("[network]\nencoding = 'men169'", ["network.encoding", "'men169'", "did you mean 'men196'?"]),
        ("[network]\nhidden = 80", ["network.hidden", "a list", "80"]),
        ("[network]\nhidden = [80, 2.5]", ["network.hidden[1]", "a whole number"]),
        ("[learning]\noptimizer = 'adma'", ["learning.optimizer", "did you mean 'adam'?"]),
        ("[learning]\nschedule = ['linear']", ["learning.schedule", "constant, linear, exponential, cosine"]),
        ("[learning]\nrate_start = '1e-3'", ["learning.rate_start", "a number"]),
        ("[learning]\nrate_start = true", ["learning.rate_start", "a number"]),
        ("[learning]\nplay_average = 1", ["learning.play_average", "true or false"]),
        ("[report]\nopponents = 'random'", ["report.opponents", "a list"]),
        ("[report]\nopponents = ['random', 1]", ["report.opponents[1]", "text"]),
        ("[run", ["my.toml is not valid TOML"]),
        ("[run]\ngames = 1\ngames = 2", ["not valid TOML"]),
        ("x = " + "[" * 50_000, ["not valid TOML"]),
        ("[run]\nseed = " + "9" * 5_000, ["not valid TOML"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_words_are_named(text, words):
    refused(text, "my.toml", *words)


@pytest.mark.parametrize(
    ("key", "wrong", "right"),
    [
        ("run.games", [0, -1, 10**12 + 1, 10**40], [1, 10**12]),
        ("run.batch_games", [0, 63], [64]),
        ("run.first_batch_games", [0, 513], [1, 512]),
        ("run.workers", [0, 1025, 10**9], [1, 3, 1024]),
        ("run.learner_threads", [0, 1025], [2]),
        ("run.seed", [-1, 2**63], [0, 2**63 - 1]),
        ("network.hidden", ["[]", "[0]", "[80, 8193]", "[-3]", [4] * 16], ["[1]", "[8192]", [4] * 15]),
        ("learning.lambda_start", [-0.1, 1.1, "nan"], [0, 1]),
        ("learning.lambda_end", [-0.1, 1.1, "nan"], [0, 1]),
        ("learning.rate_hold", [-0.1, 1.1], [0, 1]),
        ("learning.rate_start", [0, -1e-3, 10, "1e30", "inf", "nan", "1" + "0" * 400], ["1e-9", 9.9]),
        ("learning.rate_end", [0, "nan"], ["1e-9"]),
        ("learning.average", [1, -0.1, "nan"], [0, 0.9999]),
        ("learning.weight_decay", [-1, "nan", "inf"], [0, 0.1]),
        ("learning.minibatch", [0, 65_537, 10**30], [1, 65_536]),
        ("learning.passes", [0, 1001], [1, 1000]),
        ("report.metrics_games", [0], [1]),
        ("report.strength_first", [0], [1]),
        ("report.strength_factor", [1, 0.5, "nan"], [1.5]),
        ("report.checkpoint_seconds", [-1, "nan"], [0]),
        ("report.strength_games", [-2, 2, 3], [0, 4]),
        ("report.final_games", [-2, 2, 3], [0, 4]),
        ("export.beginner_games", [-1, 100_000], [0, 99_999]),
        ("export.normal_games", [-1, 100_000], [0, 99_999]),
    ],
)
def test_ranges(key, wrong, right):
    section, name = key.split(".")
    for value in wrong:
        refused(f"[{section}]\n{name} = {value}", key)
    for value in right:
        from_toml(f"[{section}]\n{name} = {value}")


def test_networks_whose_bot_files_could_not_be_read_are_refused():
    refused(f"[network]\nhidden = {[8192] * 5}", "network.hidden [8192, ", "1,030 MiB", "none above 1,024")
    refused(f"[network]\nhidden = {[8192] * 4}\nsketch = {[8192] * 4}", "network.sketch [8192, ", "1,549 MiB")
    from_toml(f"[network]\nhidden = {[8192] * 4}")


# --- overrides


def test_overrides():
    config = from_toml(
        "[run]\ngames = 7\nbatch_games = 100",
        [
            "run.games=9_000",
            "learning.rate_start=5e-4",
            "network.hidden=[64, 32]",
            "learning.optimizer=sgd",
            'learning.schedule="cosine"',
            "network.encoding = men292",
            "learning.play_average=true",
            'report.opponents=["random", "gnubg:0"]',
            "run.seed=3",
            "run.seed=4",
        ],
    )
    assert config.run == Run(games=9000, batch_games=100, seed=4)
    assert config.network == NetworkShape("men292", (64, 32))
    assert config.learning == Learning(rate_start=5e-4, optimizer="sgd", schedule="cosine", play_average=True)
    assert config.report.opponents == ("random", "gnubg:0")


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("run.games", ["--set wants section.key=value", "'run.games'"]),
        ("games=3", ["--set wants section.key=value"]),
        ("=3", ["--set wants section.key=value"]),
        ("", ["--set wants section.key=value"]),
        (".games=3", ["--set wants section.key=value"]),
        ("run.=3", ["--set wants section.key=value"]),
        ("run.gamse=3", ["run.gamse", "did you mean 'games'?"]),
        ("rum.games=3", ["[rum]", "did you mean 'run'?"]),
        ("run.games.x=3", ["run.games.x"]),
        ("run.games=", ["run.games", "a whole number"]),
        ("run.games=many", ["run.games", "a whole number", "'many'"]),
        ("network.hidden=[64", ["network.hidden", "a list"]),
        ("network.hidden=64", ["network.hidden", "a list"]),
        ("run.device=gpu", ["run.device", "cpu, cuda, mps"]),
        ("run.games=0", ["run.games", "from 1 to"]),
    ],
)
def test_wrong_overrides(override, words):
    refused("", *words, overrides=[override])


@pytest.mark.parametrize(
    ("text", "overrides", "blamed"),
    [
        ("", ["run.games=0"], "--set run.games=0: run.games should be from 1 to"),
        ("", ["run.gamse=3"], "--set run.gamse=3: run.gamse is unknown"),
        ("", ["rum.games=3"], "--set rum.games=3: there is no section [rum]"),
        ("", ["run.seed=2", "run.device=gpu"], "--set run.device=gpu: run.device should be one of"),
        ("", ["network.hidden=[8, 2.5]"], "--set network.hidden=[8, 2.5]: network.hidden[1] should be"),
        # Right each, wrong together with what else is said: the sentence names both.
        ("", ["run.seed=2", "run.batch_games=8"], "--set run.batch_games=8: run.first_batch_games should be"),
        ("[export]\nnormal_games = 50\n[run]\ngames = 99", ["run.games=9"], "--set run.games=9: export.normal_games"),
        # The text is wrong, whatever stands beside it.
        ("[learning]\nminibatch = 0", ["run.seed=2"], "my.toml: learning.minibatch should be"),
        ("[learning]\nequity = -1", ["run.seed=2"], "my.toml: learning.equity should be from 0 to 1000, not -1"),
        ("[learning]\nluck_by_network = true", ["run.seed=2"], "my.toml: learning.luck_by_network says how"),
        (
            "[network]\nsketch = [8]\n[learning]\nwithout_luck = true",
            ["learning.all_dice=0.1"],
            "--set learning.all_dice=0.1: learning.all_dice leaves no luck",
        ),
        ("[learning]\nrivalry = 2.0", ["run.seed=2"], "my.toml: learning.rivalry needs a share of the rolls"),
        ("", ["learning.rivals=0.3"], "--set learning.rivals=0.3: learning.rivals needs learning.luck_by_network"),
        ("[learning]\nminibatch = 0", ["run.games=0"], "my.toml: learning.minibatch should be"),
    ],
)
def test_who_is_to_blame(text, overrides, blamed):
    with pytest.raises(ConfigError) as caught:
        from_toml(text, overrides, source="my.toml")
    assert str(caught.value).startswith(blamed)


def test_an_override_may_mend_the_text():
    assert from_toml("[run]\ngames = 0", ["run.games=3"]).run.games == 3


def test_override_of_something_that_is_no_section():
    refused("run = 3", "run is not a section", overrides=["run.games=3"])


# --- round trips and files


@pytest.mark.parametrize(
    "config",
    [
        Config(),
        Config(
            Run(games=3, batch_games=2, first_batch_games=1, workers=2, seed=2**62, learner_threads=2),
            NetworkShape("men292", (7, 6, 5)),
            Learning(0.0, 1.0, "adamw", 1, 9, 1 / 3, 1e-300, "cosine", 0.123456789012345, 2.5, 0.01, 0.0, True),
            Report(
                1, 0.0, 1, 1.5, 0, True, (), 4, ("a\\b", 'c"d', "line\nbreak", "tab\t\x00\x7f", "Würfel ⚂ 🎲", "'")
            ),
            Export(1, 2),
        ),
    ],
)
def test_round_trip(config):
    assert from_toml(config.to_toml()) == config


def test_every_key_is_written():
    text = Config().to_toml()
    for section in dataclasses.fields(Config):
        assert f"[{section.name}]" in text
        for key in dataclasses.fields(getattr(Config(), section.name)):
            assert f"\n{key.name} = " in text


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_are_valid(path):
    from_toml(path.read_text(encoding="utf-8"), source=path.name)
    assert find_config(path.stem).samefile(path) and find_config(str(path)) == path


def test_finding_a_config(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("")
    assert find_config(str(file)) == file
    for missing in ("no-such-config", str(tmp_path), str(tmp_path / "other.toml")):
        with pytest.raises(ConfigError, match="there is no config"):
            find_config(missing)
