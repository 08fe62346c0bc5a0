"""A run's folder when two want it, when a run was killed in it, and when its files are damaged."""

import copy
import json
import subprocess
import sys
import time

import pytest
import torch

import bgai
from bgai.cli import main
from bgai.files import locked

TINY = """
[run]
games = 40
batch_games = 20
first_batch_games = 20
[network]
hidden = [8]
[report]
strength_games = 0
final_games = 4
final_opponents = ["random"]
"""


@pytest.fixture
def train(tmp_path, monkeypatch, capsys):
    """Runs `bgai train` in the folder `run`: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)

    def run(*words):
        code = main(["train", "tiny.toml", "--run", "run", "--quiet", *words])
        return code, *capsys.readouterr()

    return run


def test_a_second_process_in_a_run_folder_is_told(train, tmp_path):
    endless = [sys.executable, "-m", "train", "tiny.toml", "--run", "run", "--quiet", "--set", "run.games=100000000"]
    with subprocess.Popen(endless, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "run" / "resume.pt").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        code, out, err = train("--resume", "--set", "run.games=100000000")
        assert (code, out) == (2, "")
        assert err == (
            "bgai train: another process is training in run; wait until it ends, or give another folder with --run\n"
        )
        process.kill()
    assert (tmp_path / "run" / "lock").exists()
    (tmp_path / "run" / "resume.pt").write_bytes(b"")  # the killed one stops nobody, and its lock goes
    code, _, err = train("--resume", "--set", "run.games=100000000")
    assert code == 2 and "resume.pt is damaged" in err and not (tmp_path / "run" / "lock").exists()


def test_who_only_reads_a_finished_run_needs_no_lock(train, tmp_path):
    assert train()[0] == 0
    with locked(tmp_path / "run" / "lock"):
        code, out, err = train("--resume")
    assert (code, err) == (0, "") and "is finished" in out and "strong - random" in out
    assert bgai.load("run").card["games"] == 40


def test_what_killed_writes_left_is_cleared_away_and_confuses_nobody(train, tmp_path):
    folder = tmp_path / "run"
    (folder / "bots").mkdir(parents=True)
    left = [".config.toml.00000000.tmp", "bots/.strong.safetensors.ffffffff.tmp"]
    for name in left:
        (folder / name).write_bytes(b"half")
    assert train()[0] == 0
    assert not any((folder / name).exists() for name in left)
    (folder / "checkpoints" / ".games-000000099.safetensors.00000000.tmp").write_bytes(b"half")
    (folder / "bots" / "strong.safetensors").unlink()
    assert bgai.load("run").card["games"] == 40


def test_damaged_results_are_named(train, tmp_path):
    assert train()[0] == 0
    results = tmp_path / "run" / "results.json"
    scores = json.loads(results.read_text())["table"][:3]
    for content in (b"", b"{", b"[]", b"{}", b'{"table": 3}', b'{"table": [3]}', b"\xff", b"[" * 9000):
        results.write_bytes(content)
        code, out, err = train("--resume")
        assert (code, out) == (2, ""), content
        assert err == "bgai train: run/results.json is damaged; remove it, and --resume measures the bots again\n"
    results.unlink()
    code, out, err = train("--resume")
    assert (code, err) == (0, "") and out.splitlines()[:3] == scores


def test_another_table_of_a_finished_run_is_not_passed_over_in_silence(train, tmp_path):
    assert train()[0] == 0
    assert "This table" not in train("--resume")[1] + train("--resume", "--set", "report.final_games=0")[1]
    for wish, words in {
        "final_games=8": "report.final_games = 4, not 8; remove run/results.json, and --resume",
        'final_opponents=["normal"]': "report.final_opponents = ['random'], not ['normal']; remove run/results.json",
        "luckless=true": "report.luckless = False, not True; remove run/results.json",
    }.items():
        code, out, err = train("--resume", "--set", f"report.{wish}")
        assert (code, err) == (0, "") and words in out.splitlines()[-1]
    (tmp_path / "run" / "results.json").unlink()
    code, out, err = train("--resume", "--set", "report.final_games=8")
    assert (code, err) == (0, "") and json.loads((tmp_path / "run" / "results.json").read_text())["games"] == 8


def wrong_states(state):
    """Resume points with all the keys and wrong contents, by what is wrong."""
    changes = {
        "games": ["40", -1, 41, 2.5, None],
        "batch": [None, -3, "1"],
        "seconds": ["long", float("nan"), None],
        "playing": [None, [], state["playing"][:-1], [w * float("nan") for w in state["playing"]], [[1.0]] * 4],
        "tally": [None, [], {}, {**state["tally"], "games": "many"}, {**state["tally"], "squares": [0.0]}],
        "learner": [None, [], {}],
    }
    for name, values in changes.items():
        for value in values:
            yield f"{name} is {value!r:.40}", {**state, name: value}
    learner = state["learner"]
    moments = learner["optimizer"]["state"]
    for name, value in {
        "model": [w.flatten() for w in learner["model"]],
        "averaged": [w / 0 for w in learner["averaged"]],
        "steps": "all",
        "optimizer": {"state": {}, "param_groups": []},
    }.items():
        yield f"learner.{name}", {**state, "learner": {**learner, name: value}}
    for name, value in {"exp_avg": torch.zeros(2), "exp_avg_sq": None, "step": torch.tensor(float("inf"))}.items():
        wrong = copy.deepcopy(state)
        wrong["learner"]["optimizer"]["state"][0][name] = value
        yield f"optimizer {name}", wrong
    wrong = copy.deepcopy(state)
    wrong["learner"]["optimizer"]["state"][len(moments)] = moments[0]
    yield "one tensor more in the optimizer", wrong


def test_a_resume_point_with_wrong_contents_is_named(train, tmp_path):
    assert train("--set", "report.final_games=0")[0] == 0
    (tmp_path / "run" / "bots" / "strong.safetensors").unlink()  # with it the run would be finished
    resume = tmp_path / "run" / "resume.pt"
    state = torch.load(resume, weights_only=True)
    del state["sha256"]  # as older ones, which are still taken
    for name, wrong in wrong_states(state):
        torch.save(wrong, resume)
        code, out, err = train("--resume", "--set", "report.final_games=0")
        assert (code, out) == (2, ""), name
        assert err.startswith("bgai train: ") and "run/resume.pt" in err and err.count("\n") == 1, (name, err)
    torch.save(state, resume)
    assert train("--resume", "--set", "report.final_games=0")[0] == 0


def test_a_resume_point_with_one_wrong_bit_is_not_trained_on(train, tmp_path):
    assert train()[0] == 0
    for name in ("results.json", "bots/strong.safetensors"):  # as of a run that was not finished
        (tmp_path / "run" / name).unlink()
    resume = tmp_path / "run" / "resume.pt"
    whole = resume.read_bytes()
    state = torch.load(resume, weights_only=True)
    moments = state["learner"]["optimizer"]["state"][0]["exp_avg"]
    for tensor in (state["learner"]["model"][0], state["learner"]["averaged"][2], state["playing"][0], moments):
        damaged = bytearray(whole)
        damaged[whole.index(tensor.numpy().tobytes()) + 4] ^= 1
        resume.write_bytes(damaged)
        code, out, err = train("--resume")
        assert (code, out) == (2, "") and err.startswith("bgai train: the resume point run/resume.pt is damaged: it")
        assert err.count("\n") == 1
    resume.write_bytes(whole)
    assert train("--resume")[0] == 0


def test_a_run_whose_resume_point_is_gone_keeps_its_history(train, tmp_path):
    assert train()[0] == 0
    for name in ("resume.pt", "results.json", "bots/strong.safetensors"):  # as of a run that was not finished
        (tmp_path / "run" / name).unlink()
    history = (tmp_path / "run" / "metrics.jsonl").read_bytes()
    code, _, error = train("--resume")
    assert code == 2 and "resume.pt is gone" in error and "40 games" in error
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == history
