"""The protocol of pipelineSplitBarrier, played by eight warps of one block.

This owns what the pictures say: draw.py draws only what came out here. A barrier is a count of
pending arrivals and a phase; a warp is a generator that arrives, waits and works. The clock only
puts the steps of the warps into an order: its units mean nothing.

    python3 -c "from protocol import play; print(play(6, count=128)[2])"
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush

WARP_SIZE = 32
PRODUCERS = ["P0", "P1", "P2", "P3"]
CONSUMERS = ["C4", "C5", "C6", "C7"]
FILL, COMPUTE = 10, 40  # the copy is the shorter part, and no two warps are equally fast
# The moment at which each warp starts; mixed, so that neither group always comes first.
START = dict(P0=0, C4=1, C5=2, P1=3, C6=4, P2=5, C7=6, P3=7)


@dataclass
class Arrival:
    """One warp's arrival, as the barrier saw it."""

    warp: str
    phase: int
    pending: int  # after this arrival; 0 means that it completed the phase
    finished: str | None  # the last piece of work that the warp had done by then


@dataclass
class Barrier:
    """An arrival count of `count` threads, reloaded whenever a phase completes."""

    count: int
    phase: int = 0
    pending: int = 0
    arrivals: list = field(default_factory=list)
    waiting: list = field(default_factory=list)

    def __post_init__(self):
        self.pending = self.count

    def arrive(self, warp, finished):
        """Counts one warp and returns the phase that it arrived in, as a token for waiting."""
        token = self.phase
        self.pending -= WARP_SIZE
        self.arrivals.append(Arrival(warp, token, self.pending, finished))
        if self.pending == 0:
            self.phase += 1
            self.pending = self.count
        return token


def producer(ready, filled, tiles):
    """The producers' loop of the lesson, one warp of it."""
    for tile in range(tiles):
        token = yield "arrive", ready[tile % 2]
        yield "wait", ready[tile % 2], token
        yield "work", f"fill {tile}", FILL
        yield "arrive", filled[tile % 2]


def consumer(ready, filled, tiles):
    """The consumers' loop of the lesson, one warp of it."""
    yield "arrive", ready[0]
    yield "arrive", ready[1]
    for tile in range(tiles):
        token = yield "arrive", filled[tile % 2]
        yield "wait", filled[tile % 2], token
        yield "work", f"compute {tile}", COMPUTE
        yield "arrive", ready[tile % 2]


def play(tiles, count=256):
    """Runs one block over `tiles` tiles; returns `ready`, `filled`, and what each work waited for.

    The third result maps a piece of work to the pieces that the warps had finished when they
    arrived in the phase that let it through.
    """
    ready = [Barrier(count), Barrier(count)]
    filled = [Barrier(count), Barrier(count)]
    warps = {name: producer(ready, filled, tiles) for name in PRODUCERS}
    warps |= {name: consumer(ready, filled, tiles) for name in CONSUMERS}
    finished = dict.fromkeys(warps)
    let_through = dict.fromkeys(warps)
    needs = {}
    due = [(START[name], name, None) for name in warps]  # (when, warp, what its generator is sent)
    due.sort()
    while due:
        now, name, sent = heappop(due)
        try:
            step = warps[name].send(sent)
        except StopIteration:
            continue
        kind, on = step[0], step[1]
        if kind == "work":
            needs.setdefault(on, set()).update(let_through[name])
            finished[name] = on
            heappush(due, (now + step[2] + START[name] % 5, name, None))
        elif kind == "wait":
            on.waiting.append((name, step[2]))
            wake(on, now, due, let_through)
        else:
            heappush(due, (now, name, on.arrive(name, finished[name])))
            wake(on, now, due, let_through)
    return ready, filled, needs


def wake(barrier, now, due, let_through):
    """Lets every warp go on whose phase is complete."""
    for name, token in barrier.waiting[:]:
        if barrier.phase > token:
            barrier.waiting.remove((name, token))
            pieces = {a.finished for a in barrier.arrivals if a.phase == token and a.finished}
            let_through[name] = pieces
            heappush(due, (now, name, None))
