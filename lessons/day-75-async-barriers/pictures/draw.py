"""Draws the pictures of day 75 beside this file; --check only says whether they are as drawn.

What they show comes from protocol.py, which plays the barriers; nothing is drawn from memory.
Python 3.10 or newer, standard library only.
"""

import sys
from pathlib import Path

from protocol import CONSUMERS, PRODUCERS, WARP_SIZE, play
from svg import Picture

COUNT = 256


def group(warp):
    """The style of a warp's group: p for producers, c for consumers."""
    return "p" if warp in PRODUCERS else "c"


def hand_offs():
    """Two buffers, four barriers: who hands what to whom."""
    pic = Picture(
        860, 440, "Two buffers and four hand-offs",
        "Producers on the left, consumers on the right, buffers 0 and 1 between them. Over each "
        "buffer b runs an arrow filled[b] from producers to consumers, under it an arrow ready[b] "
        "back. At its tail a group only arrives; at its tip the other group arrives and waits.")
    for x, kind, name, warps, verb in ((24, "p", "producers", PRODUCERS, "copy"),
                                       (706, "c", "consumers", CONSUMERS, "compute")):
        pic.box(x, 24, 130, 392, kind, 8)
        pic.text_at(x + 65, 56, name, f"{kind}t b", size=18)
        pic.text_at(x + 65, 78, f"warps {warps[0][1]} to {warps[-1][1]}", size=15)
        pic.text_at(x + 65, 402, f"they {verb}", "dim", size=15)
    for b, top in ((0, 46), (1, 246)):
        middle = top + 74
        pic.box(350, middle - 26, 160, 52, "buffer", 6)
        pic.text_at(430, middle - 2, f"buffer {b}", "b", size=16)
        pic.text_at(430, middle + 17, "1,024 floats", "dim", size=14)
        pic.line(160, middle, 346, middle, "pl", True, "2 5")
        pic.text_at(252, middle - 8, "write a tile", "dim", size=14)
        pic.line(514, middle, 700, middle, "cl", True, "2 5")
        pic.text_at(608, middle - 8, "read a tile", "dim", size=14)
        hand_off(pic, 160, 700, middle - 50, -8, "pl", f"filled[{b}]: it holds a whole tile")
        hand_off(pic, 700, 160, middle + 50, 20, "cl", f"ready[{b}]: it may be written")
    return pic


def hand_off(pic, tail, tip, y, below, kind, promise):
    """One barrier as an arrow from the group that only arrives to the one that waits."""
    pic.line(tail, y, tip, y, kind, True)
    pic.text_at(430, y + below, promise, f"{kind[0]}t b", size=15)
    for x, words in ((tail, "arrive"), (tip, "arrive and wait")):
        anchor, inwards = ("start", 6) if x < 430 else ("end", -6)
        pic.text_at(x + inwards, y + below, words, anchor=anchor, size=14)


def barrier_life():
    """ready[0] through three phases: who arrives, what is pending, who is blocked."""
    ready, _, _ = play(tiles=5)
    arrivals = [a for a in ready[0].arrivals if a.phase < 3]
    step, left, base = 30, 120, 254
    pic = Picture(
        860, 488, "The life of the barrier ready[0] over three tiles",
        "For each of 24 arrivals of a warp at ready[0], in order: which warp arrives, how many "
        "arrivals are pending, the number of the phase, and which producer warps are blocked. "
        "Each phase begins with 256 pending, and its eighth arrival completes it and lets the "
        "waiting producers go on: to copy tile 0, then tile 2, then tile 4.")
    for y, words in ((63, "arrives"), (178, "pending"), (290, "phase")):
        pic.text_at(20, y, words, "b", "start", 15)
    pic.text_at(20, 340, "in its wait", "dim", "start", 14)
    pic.text_at(20, 196, "afterwards", "dim", "start", 14)
    pic.text_at(20, 322, "blocked", "b", "start", 15)
    for index, arrival in enumerate(arrivals):
        draw_arrival(pic, left + index * step, base, step, arrival)
    for phase in range(3):
        draw_phase(pic, left, step, phase, arrivals)
    pic.text_at(20, 404, "completed", "b", "start", 15)
    pic.text_at(20, 426, "it allows", "b", "start", 15)
    pic.text_at(20, 466, "Left to right: the order of arrivals at this barrier. It is not a time "
                "axis; whatever the warps do in between is left out.", "dim", "start", 14)
    return pic


def draw_arrival(pic, x, base, step, arrival):
    """One column: the warp above, the count that it leaves below."""
    kind = group(arrival.warp)
    pic.box(x + 1, 44, step - 3, 28, kind, 5)
    pic.text_at(x + step / 2, 63, arrival.warp, f"{kind}t b", size=14)
    height = arrival.pending / COUNT * 130
    if height:
        pic.box(x + 1, base - height, step - 3, height, kind, 2)
    pic.text_at(x + step / 2, base - height - 6, str(arrival.pending), size=13)


def draw_phase(pic, left, step, phase, arrivals):
    """What spans a phase: its number, the blocked warps, and what its completion allows."""
    columns = [i for i, a in enumerate(arrivals) if a.phase == phase]
    x, end = left + columns[0] * step, left + (columns[-1] + 1) * step
    pic.line(x - 0.5, 20, x - 0.5, 436, "faint")
    pic.text_at(x + 4, 32, f"begins with {COUNT} pending", "dim", "start", 14)
    pic.box(x + 1, 272, end - x - 3, 26, "buffer", 4)
    pic.text_at((x + end) / 2, 290, str(phase), "b", size=15)
    for row, warp in enumerate(PRODUCERS):
        y = 308 + row * 19
        came = next(i for i in columns if arrivals[i].warp == warp)
        start = left + came * step + step / 2
        done = end - step / 2
        if done > start:
            pic.box(start, y, done - start, 15, "p", 3)
            pic.text_at(start + 6, y + 12, warp, "pt b", "start", 12)
    last = arrivals[columns[-1]]
    pic.text_at((x + end) / 2, 404, f"by {last.warp}", size=15)
    pic.text_at((x + end) / 2, 426, f"copying tile {2 * phase}", "pt b", size=15)


def who_needs_whom():
    """The pieces of work of one block, and which had to be over in all warps before which."""
    tiles = 4
    _, _, needs = play(tiles)
    pic = Picture(
        860, 300, "Which work of the split-barrier kernel must be over before which",
        "An upper row of boxes fill 0 to fill 3, a lower row compute 0 to compute 3, each compute "
        "one column to the right of its fill. Between two neighbouring columns every box on the "
        "left has an arrow to every box on the right.")
    place = {f"fill {t}": (96 + 166 * t, 84) for t in range(tiles)}
    place |= {f"compute {t}": (96 + 166 * (t + 1), 196) for t in range(tiles)}
    for after, befores in needs.items():
        for before in sorted(befores):
            x1, y1 = place[before]
            x2, y2 = place[after]
            bend = 0 if y1 == y2 else (14 if y2 > y1 else -14)
            kind = "pl" if before.startswith("fill") else "cl"
            pic.line(x1 + 60, y1 + bend, x2 - 62, y2 - bend, kind, True)
    for name, (x, y) in place.items():
        kind = "p" if name.startswith("fill") else "c"
        pic.box(x - 58, y - 24, 116, 48, kind, 6)
        pic.text_at(x, y + 5, name, f"{kind}t b", size=16)
    pic.text_at(38, 44, "producers", "pt b", "start", 16)
    pic.text_at(38, 202, "consumers", "ct b", "start", 16)
    pic.text_at(38, 256, "An arrow: the first must be over in all warps of its group before the "
                "second may start in any.", "dim", "start", 14)
    pic.text_at(38, 278, "The columns say what comes after what; they are not a time axis.",
                "dim", "start", 14)
    return pic


PICTURES = {"hand-offs": hand_offs, "barrier-life": barrier_life, "who-needs-whom": who_needs_whom}


def main():
    assert (len(PRODUCERS) + len(CONSUMERS)) * WARP_SIZE == COUNT
    stale = []
    for name, draw in PICTURES.items():
        path = Path(__file__).with_name(f"{name}.svg")
        drawn = draw().text().encode()
        if "--check" not in sys.argv[1:]:
            path.write_bytes(drawn)
        elif not path.exists() or path.read_bytes() != drawn:
            stale.append(path.name)
    if stale:
        sys.exit(f"not as drawn: {', '.join(stale)}; run draw.py")


if __name__ == "__main__":
    main()
