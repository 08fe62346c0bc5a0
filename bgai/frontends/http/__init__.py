"""`bgai serve`: bots and the page over HTTP. `cli` starts it, `app` answers, the rest are plain functions."""
