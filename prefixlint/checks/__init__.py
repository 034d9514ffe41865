"""Stage 4a: checks on one prompt, one file per kind.

A module that defines ``check_prompt(prompt: Prompt) -> Iterator[Hit]`` is run on every prompt: a request body as it is
rendered, or a prompt file, template, chat template, settings string or tool list (``prompt.kind``), whose segments
carry the role (``system`` for text that the developer wrote) and, where the file says it, the placeholder syntax.
``Hit.pointer`` is the pointer of the segment, offsets are code points in ``Segment.text``. Modules ``settings_*``
define ``check_settings`` instead, see ``settings_pair.py``; they are imported only when a settings file is seen.
"""
