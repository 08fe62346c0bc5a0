"""The trainer: self-play, λ-returns, a torch learner. `bgai train` and `python -m train` run it."""
