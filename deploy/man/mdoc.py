# SPDX-License-Identifier: Apache-2.0
"""Plain text to mdoc(7)."""

import re
import textwrap


def escaped(line):
    """A line of literal text."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def word(text):
    """A word as an argument of a macro."""
    text = escaped(text)
    return f"\\&{text}" if re.fullmatch(r"[A-Z][a-z]|[A-Za-z]{2,3}|[|.,:;()\[\]?!]", text) else text


def text(paragraph):
    """A paragraph, one sentence per line."""
    joined = " ".join(paragraph.split())
    for sentence in re.split(r"(?<=[.;:!?]) (?=[A-Z$~])", joined):
        if sentence:
            yield escaped(sentence)


def head(day, title, section, description):
    yield f".Dd {day}"
    yield f".Dt {title.upper()} {section}"
    yield ".Os"
    yield ".Sh NAME"
    yield f".Nm {title}"
    yield f".Nd {escaped(description[:1].lower() + description[1:])}"


def see_also(pages):
    yield ".Sh SEE ALSO"
    ordered = sorted(pages, key=lambda page: (page[1], page[0]))
    for index, (title, section) in enumerate(ordered):
        yield f".Xr {title} {section}" + (" ," if index + 1 < len(ordered) else "")


def literal(lines):
    yield ".Bd -literal -offset indent"
    yield from (escaped(line) for line in textwrap.dedent("\n".join(lines)).splitlines())
    yield ".Ed"


def listed(lines):
    """A list from rows of name, two spaces and meaning, such as exit statuses."""
    yield ".Bl -tag -width Ds"
    for line in textwrap.dedent("\n".join(lines)).splitlines():
        name, _, meaning = line.partition("  ")
        yield f".It {word(name.strip())}"
        yield from text(meaning)
    yield ".El"


def discussion(value):
    """Splits a discussion into the description and its sections, which start with a heading in capitals."""
    description, sections = [], {}
    for block in re.split(r"\n\s*\n", value.strip("\n")):
        lines = block.splitlines()
        if re.fullmatch(r"[A-Z][A-Z ]+", lines[0].strip() if lines else ""):
            heading, body = lines[0].strip(), lines[1:]
            shown = literal(body) if heading == "EXAMPLES" else listed(body)
            sections[heading] = [f".Sh {heading}", *shown]
        elif lines:
            if description:
                description.append(".Pp")
            description += literal(lines) if lines[0].startswith("  ") else text(block)
    return description, sections
