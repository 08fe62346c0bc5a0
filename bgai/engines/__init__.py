"""Anybody's engine as a bot. `engine` asks and checks, `ubgi`, `wildbg` and `function` know a way to ask each, and
`opening` opens them by name. Knows nothing of networks."""
