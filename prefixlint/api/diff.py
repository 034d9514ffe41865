"""Find the forks of a log: the one place that joins reading, rendering, tokenizing and comparing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass

from prefixlint import cards
from prefixlint.api.prices import provider_facts, saved_per_token
from prefixlint.api.render import layout
from prefixlint.api.tokens import tokenizer_for
from prefixlint.diff.engine import Engine, Step
from prefixlint.diff.findings import Watch
from prefixlint.diff.sites import gather
from prefixlint.diff.store import Store
from prefixlint.elements import Layout
from prefixlint.errors import ConfigError, InputError, PrefixlintError
from prefixlint.model import DiffResult, InputFile, Request, Tokenizer, Trust, Usage


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """Say how a log is compared.

    ``tokenizer`` overrides the one chosen by model name; ``render`` overrides the send order of the provider.
    ``on_request`` is called after each request with the number read so far, ``on_step`` with what the engine made of
    it.
    """

    tokenizer: str | None = None
    render: str | None = None
    on_request: Callable[[int], None] | None = None
    on_step: Callable[[Step, Store], None] | None = None


def diff(requests: Iterable[Request | InputError], options: DiffOptions | None = None) -> DiffResult:
    """Compare the requests of a log in order and name every place where their prefixes part.

    Records that could not be read (``InputError`` in the stream) are told in ``inputs`` and the rest goes on.
    """
    run = _Run(options or DiffOptions())
    with closing(run.engine.store):
        for item in requests:
            run.take(item)
        return run.result()


class _Run:
    """Hold the state of one run."""

    def __init__(self, options: DiffOptions) -> None:
        self._options = options
        self._layouts: dict[str, Layout] = {}
        self._tokenizers: dict[str, Tokenizer] = {}
        self._used: dict[str, Tokenizer] = {}
        self._trusts: dict[str, Trust] = {}
        self.engine = Engine(self._layout_of, self._tokenizer_of, self._trust)
        self._watch = Watch(self.engine.store, self._trust)
        self._inputs: dict[str, tuple[str, int, list[str]]] = {}
        self._usage = _UsageSum()
        self._notes: dict[str, None] = {}

    def take(self, item: Request | InputError) -> None:
        """Take one record."""
        if isinstance(item, InputError):
            self._input(item.path)[2].append(str(item))
            return
        path = item.span.path
        kind, count, errors = self._input(path)
        self._inputs[path] = (kind or item.provider, count + 1, errors)
        self._usage.add(item.usage)
        if item.no_prompt or (not item.members and item.text is None):
            self._notes["some records hold no prompt text; only their usage was counted"] = None
            return
        try:
            step = self.engine.add(item)
            self._watch.look(item, step)
            if self._options.on_step:
                self._options.on_step(step, self.engine.store)
        except ConfigError:
            if self._options.render or self._options.tokenizer:
                raise
            self._notes[f"requests of provider {item.provider!r} were left out: their send order is not known"] = None
        if self._options.on_request:
            self._options.on_request(self.engine.totals.requests)

    def _input(self, path: str) -> tuple[str, int, list[str]]:
        return self._inputs.setdefault(path, ("", 0, []))

    def _layout_of(self, request: Request) -> Layout:
        name = self._options.render or request.provider
        if name not in self._layouts:
            self._layouts[name] = layout(name)
        return self._layouts[name]

    def _tokenizer_of(self, request: Request) -> Tokenizer:
        model = request.model or ""
        found = self._tokenizers.get(model)
        if found is None:
            found = self._tokenizers[model] = tokenizer_for(request.model, self._options.tokenizer)
            self._used.setdefault(found.name, found)
        return found

    def _trust(self, rule: str) -> Trust:
        if rule not in self._trusts:
            try:
                self._trusts[rule] = cards.rule(rule).fix
            except PrefixlintError:
                self._trusts[rule] = "display"
        return self._trusts[rule]

    def result(self) -> DiffResult:
        """Sum up."""
        totals = self.engine.totals
        forks = totals.forks
        pair = self.engine.pair_fork
        if totals.requests == 2 and pair and not forks:
            forks, totals.models = [pair], [""]
        usage = self._usage.total()
        return DiffResult(
            inputs=tuple(InputFile(path, i[0] or "unknown", i[1], tuple(i[2])) for path, i in self._inputs.items()),
            tokenizer=", ".join(self._used) or "none",
            exact=all(t.exact for t in self._used.values()),
            requests=sum(i[1] for i in self._inputs.values()),
            sessions=self.engine.tracker.sessions,
            prompt_tokens=totals.prompt_tokens,
            shared_tokens=totals.shared_tokens,
            recoverable_tokens=totals.recoverable_tokens,
            usage=usage,
            forks=tuple(forks),
            sites=gather(forks, lambda index: self._cost(forks[index].lost_tokens, totals.models[index])),
            findings=self._watch.findings(),
            notes=tuple(self._notes),
        )

    def _cost(self, tokens: int, model: str) -> float | None:
        facts = provider_facts(model) if model else None
        saved = saved_per_token(facts) if facts else None
        return None if saved is None else tokens * saved


class _UsageSum:
    """Add up what the log recorded; a field stays None while no record has it."""

    FIELDS = ("input_tokens", "cache_read", "cache_write", "output_tokens")

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}

    def add(self, usage: Usage | None) -> None:
        """Add one record's usage."""
        for name in self.FIELDS if usage else ():
            value = getattr(usage, name)
            if value is not None:
                self._sums[name] = self._sums.get(name, 0) + value

    def total(self) -> Usage:
        """Return the sums."""
        return Usage(**{name: self._sums.get(name) for name in self.FIELDS})
