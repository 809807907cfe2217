"""Draws two-buffers.svg, the order of events of Day 54, beside this file.

Standard library only, and the same bytes on every run. A box is a step of one chunk, an arrow says
that one step must have ended before the next begins. Places stand for order, never for time.
"""

from pathlib import Path

WIDTH, HEIGHT = 920, 540
BOX_W, BOX_H = 72, 40
LEFT = 58  # the centre of the leftmost box
PITCH = 114.8  # from one step of the host to the next
STRIDE = 86  # from one step on the card to the next

STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de; }
  .lane { fill: #f3f5f8; }
  .host { fill: #ffe3b8; stroke: #9a5b00; }
  .copy { fill: #cfe3ff; stroke: #1f5fbf; }
  .kernel { fill: #cdeccf; stroke: #1d7a34; }
  text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 14px; }
  text { fill: #1f2328; }
  .head { font-weight: 600; font-size: 15px; }
  .note { font-size: 13px; fill: #57606a; }
  .mid { text-anchor: middle; }
  .end { text-anchor: end; }
  .num { font-weight: 600; }
  .order { stroke: #6e7781; stroke-width: 1.6; fill: none; }
  .done { stroke: #c0262d; stroke-width: 2.4; fill: none; }
  .order-tip { fill: #6e7781; }
  .done-tip { fill: #c0262d; }
  .done-text { fill: #c0262d; font-size: 13px; font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #30363d; }
    .lane { fill: #171d26; }
    .host { fill: #4d3410; stroke: #e0a350; }
    .copy { fill: #16335e; stroke: #79b0ff; }
    .kernel { fill: #16401f; stroke: #6fcf84; }
    text { fill: #e6edf3; }
    .note { fill: #9aa4af; }
    .order { stroke: #9aa4af; }
    .done { stroke: #ff7b72; }
    .order-tip { fill: #9aa4af; }
    .done-tip { fill: #ff7b72; }
    .done-text { fill: #ff7b72; }
  }
"""

TITLE = "The order of events with one buffer and with two"
DESC = (
    "With one buffer, fill, copy in, kernel, copy out and drain of a chunk follow one another, "
    "and the next chunk begins after them. With two buffers the host thread does fill 0, fill 1, "
    "drain 0, fill 2, drain 1, fill 3, drain 2, drain 3 in this order. Each fill is followed by "
    "copy in, kernel and copy out of its chunk on the stream of its buffer: chunks 0 and 2 on "
    "buffer 0, chunks 1 and 3 on buffer 1. Each drain waits for the event done behind its chunk's "
    "copy out, and only after the drain is the buffer filled again."
)
NOTES = (
    "An arrow: the step at its tail has ended before the step at its tip begins. "
    "Red: what makes it safe to touch a buffer again.",
    "Two steps with no path of arrows between them may happen at the same time. "
    "Distances on the page say nothing about time.",
)


def box(kind, name, chunk, x, y):
    return [
        f'<rect class="{kind}" x="{x - BOX_W / 2:g}" y="{y - BOX_H / 2:g}" '
        f'width="{BOX_W}" height="{BOX_H}" rx="5" stroke-width="1.5"/>',
        f'<text class="mid" x="{x:g}" y="{y - 3:g}">{name}</text>',
        f'<text class="mid num" x="{x:g}" y="{y + 14:g}">{chunk}</text>',
    ]


def arrow(kind, x1, y1, x2, y2):
    return [
        f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
        f'marker-end="url(#{kind}-tip)"/>'
    ]


def elbow(kind, x1, y1, x2, y2):
    """From the edge of one box to the edge of another: up or down, across, up or down."""
    middle = (y1 + y2) / 2
    return [
        f'<path class="{kind}" d="M{x1:g} {y1:g} V{middle:g} H{x2:g} V{y2:g}" '
        f'marker-end="url(#{kind}-tip)"/>'
    ]


def text(kind, x, y, words):
    return [f'<text class="{kind}" x="{x:g}" y="{y:g}">{words}</text>']


def tips():
    lines = ["<defs>"]
    for kind in ("order", "done"):
        lines.append(
            f'<marker id="{kind}-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
            f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
            f'<path class="{kind}-tip" d="M0 0 L10 5 L0 10 z"/></marker>'
        )
    return lines + ["</defs>"]


STEPS = (
    ("host", "fill"),
    ("copy", "copy in"),
    ("kernel", "kernel"),
    ("copy", "copy out"),
    ("host", "drain"),
)


def one_buffer(y):
    """Two chunks, all ten steps in one line."""
    lines = text("head", 24, y - 40, "One buffer, one stream: a line")
    pitch = (WIDTH - 2 * LEFT) / 9
    for place in range(10):
        chunk, step = divmod(place, 5)
        x = LEFT + place * pitch
        lines += box(*STEPS[step], chunk, x, y)
        if place < 9:
            kind = "done" if step in (3, 4) else "order"
            lines += arrow(kind, x + BOX_W / 2 + 2, y, x + pitch - BOX_W / 2 - 2, y)
    return lines


# What the host thread does with four chunks, in its order.
HOST = (
    ("fill", 0),
    ("fill", 1),
    ("drain", 0),
    ("fill", 2),
    ("drain", 1),
    ("fill", 3),
    ("drain", 2),
    ("drain", 3),
)


def two_buffers(y):
    """Four chunks: the host's row in the middle, buffer 0's stream above it, buffer 1's below."""
    heading = "Two buffers, two streams: two lines, tied to each other by the host"
    lines = text("head", 24, y - 158, heading)
    for lane in (y - 104, y, y + 104):
        lines.append(
            f'<rect class="lane" x="14" y="{lane - 41:g}" width="{WIDTH - 28}" height="82" rx="6"/>'
        )
    lines += text("note end", WIDTH - 24, y - 124, "buffer 0, stream 0")
    lines += text("note", 22, y + 36, "host thread")
    lines += text("note", 24, y + 134, "buffer 1, stream 1")
    where = {step: LEFT + place * PITCH for place, step in enumerate(HOST)}
    for place, (name, chunk) in enumerate(HOST):
        x = LEFT + place * PITCH
        lines += box("host", name, chunk, x, y)
        if place < 7:
            frees = name == "drain" and HOST[place + 1] == ("fill", chunk + 2)
            kind = "done" if frees else "order"
            lines += arrow(kind, x + BOX_W / 2 + 2, y, x + PITCH - BOX_W / 2 - 2, y)
            if frees:
                lines += text("done-text mid", x + PITCH / 2, y - 7, "free")
    for chunk in range(4):
        lines += on_the_card(chunk, where["fill", chunk], where["drain", chunk], y)
    return lines


def on_the_card(chunk, fill_x, drain_x, host_y):
    """The three steps of a chunk on its stream, from its fill to its drain."""
    side = -1 if chunk % 2 == 0 else 1
    y = host_y + side * 104
    centre = (fill_x + drain_x) / 2
    lines = []
    for step in (1, 2, 3):
        x = centre + (step - 2) * STRIDE
        lines += box(*STEPS[step], chunk, x, y)
        if step < 3:
            lines += arrow("order", x + BOX_W / 2 + 1, y, x + STRIDE - BOX_W / 2 - 1, y)
    near_host, near_card = host_y + side * BOX_H / 2, y - side * BOX_H / 2
    lines += elbow("order", fill_x, near_host, centre - STRIDE, near_card - side * 2)
    lines += elbow("done", centre + STRIDE, near_card, drain_x, near_host + side * 2)
    name = f"done[{chunk % 2}]"
    lines += text("done-text end", centre + STRIDE - 7, host_y + side * 54 + 4, name)
    return lines


def picture():
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{TITLE}</title>',
        f'<desc id="desc">{DESC}</desc>',
        f"<style>{STYLE}</style>",
        *tips(),
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        *one_buffer(76),
        *two_buffers(318),
        *text("note", 24, HEIGHT - 42, NOTES[0]),
        *text("note", 24, HEIGHT - 20, NOTES[1]),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    target = Path(__file__).with_name("two-buffers.svg")
    target.write_text(picture(), encoding="utf-8", newline="\n")
