"""Replay the same log as it would be after the fixes, beside the log as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefixlint.api.accesses import Reader, Served
from prefixlint.api.replay_options import ReplayOptions
from prefixlint.api.replay_runs import Ideal, Run
from prefixlint.api.replay_tally import Tally
from prefixlint.model import Request
from prefixlint.replays import Scenario

LIMIT_BYTES = 64_000_000  # size up to which a log is fixed and replayed again for the comparison


def is_small(files: Iterable[Any]) -> bool:
    """Say whether the inputs are small enough for the comparison."""
    paths = [Path(file.path) for file in files if file.path != "-"]
    return sum(path.stat().st_size for path in paths if path.is_file()) <= LIMIT_BYTES


@dataclass(slots=True)
class After:
    """One more replay of the log, with the fixes of one trust level applied to every request."""

    name: str
    unsafe: bool
    reader: Reader
    run: Run
    tally: Tally
    ideal: Ideal | None = None
    ceiling: int = 0

    def serve(self, request: Request) -> None:
        """Fix one request and serve it."""
        served = self.reader.one(fixed(request, unsafe=self.unsafe))
        if served is None or not served.access.prompt_tokens:
            return
        served.access.record = self.tally.requests
        if served.echo is not None:
            self.run.extend(served.echo, request)
            if self.ideal is not None:
                self.ideal.serve(served.echo)
        read = self.run.serve(served.access, request)
        self.tally.add(self.run.setup(served.access, request), served.access, read)
        if self.ideal is not None:
            self.ceiling += self.ideal.serve(served.access)


@dataclass(slots=True)
class Fixed:
    """The comparison: today comes from the replay itself, the rest from here."""

    options: ReplayOptions
    reader: Callable[[Run], Reader]
    after: list[After] = field(default_factory=list)
    skipped: bool = False

    def __post_init__(self) -> None:
        """Build the two further replays."""
        for name, unsafe in (("after safe fixes", False), ("after all fixes", True)):
            run = Run(self.options)
            ideal = Ideal() if unsafe else None
            self.after.append(After(name, unsafe, self.reader(run), run, Tally(self.options.hardware), ideal))

    def serve(self, served: Served) -> None:
        """Serve one request of the log; token ids and raw prompts have no fixes."""
        request = served.request
        if not request.members:
            self.skipped = True
        if not self.skipped:
            for one in self.after:
                one.serve(request)

    def scenarios(self, today: Tally) -> tuple[Scenario, ...]:
        """Return the columns, best last."""
        found = [today.scenario("today")]
        if self.skipped or not today.requests:
            return ()
        found += [one.tally.scenario(one.name) for one in self.after]
        last = self.after[-1]
        rate = replace(last.tally.rate("ceiling"), hit_low=last.ceiling, hit_high=last.ceiling)
        note = "ceiling: all fixes, one unlimited cache to the token, nothing expires"
        return (*found, Scenario("ceiling", rate, note=note))


def fixed(request: Request, *, unsafe: bool) -> Request:
    """Return a request with its fixes applied; one that cannot be canonicalized stays as it is."""
    import orjson

    from prefixlint.api.library import canonicalize, dump
    from prefixlint.errors import PrefixlintError

    try:
        body: dict[str, Any] = {name: orjson.loads(raw) for name, raw in request.members.items()}
        new = canonicalize(body, provider=request.provider, unsafe=unsafe).body
    except (PrefixlintError, orjson.JSONDecodeError):
        return request
    order = [*(k for k in request.members if k in new), *(k for k in new if k not in request.members)]
    return replace(request, members={name: dump(new[name]) for name in order})
