"""The rules about groups that compete for the room of a small cluster."""

import dataclasses
import random
from collections.abc import Mapping

# Seconds without a start, while each group alone fits. docs/maintaining/soak.md
# derives it.
PROGRESS = 75
LIFE = 12  # the longest time for which a group runs
BLOCKED = 40  # the longest time without room
HALF = 10  # seconds until a group that has begun to start must be complete


@dataclasses.dataclass
class Plan:
    """What one run does. Points in time are seconds after its start."""
    nodes: list[int]  # the room of each node, in pods
    groups: dict[str, tuple[int, int]]  # members and minimum
    lives: dict[str, float]  # how long a group runs
    blocked: float  # until when other pods take so much room that none fits
    created: list[tuple[float, str]]  # a member of which group, in order
    starts: list[float]  # of the scheduler; it is killed before all but one
    kills: list[float]

    def __str__(self) -> str:
        sizes = sorted(size for size, _ in self.groups.values())
        size = f"{sizes[0]} to {sizes[-1]}"
        if sizes[0] == sizes[-1]:
            size = str(sizes[0])
        room = " + ".join(map(str, self.nodes))
        text = f"{len(self.groups)} groups of {size}, room for {room} pods"
        if self.blocked:
            text += f" after {self.blocked:.1f} s"
        text += (f", created within {self.created[-1][0]:.1f} s, scheduler "
                 f"started after {self.starts[0]:.1f} s")
        if self.kills:
            kills = " and ".join(f"{kill:.1f} s" for kill in self.kills)
            text += f", killed after {kills}"
        return text


def plan_of(seed: int, most_groups: int) -> Plan:
    rng = random.Random(seed)
    room = rng.randint(4, 14)
    first = rng.choice([room, rng.randint(1, room - 1)])
    # Each group alone fits, but no two together.
    least = room // 2 + 1
    sizes = range(least, rng.choice([least, least + 1, room]) + 1)
    groups = {}
    for number in range(rng.randint(3, most_groups)):
        size = rng.choice(sizes)
        minimum = rng.choice([size, size, rng.randint(least, size)])
        groups[f"group-{number}"] = (size, minimum)
    # While there is no room, groups fail, and the backoffs of their pods grow.
    longest = rng.choice([0, LIFE])
    lives = {group: rng.uniform(0, longest) for group in groups}
    blocked = rng.choice([0, 0, rng.uniform(0, BLOCKED)])
    # The scheduler starts before the pods, with them, or later.
    start = rng.choice([0, 0, rng.uniform(0, 4)])
    length = rng.choice([0, 0, rng.uniform(0, 6)])
    names = order_of(groups, rng)
    times = sorted(rng.uniform(0, length) for _ in names)
    starts, kills = [start], []
    for _ in range(rng.choice([0, 1, 1, 2])):
        kills.append(starts[-1] + rng.choice([rng.uniform(0, 2),
                                              rng.uniform(0, 12)]))
        starts.append(kills[-1] + rng.choice([0.1, rng.uniform(0.1, 3)]))
    nodes = [first, room - first] if first < room else [room]
    created = list(zip(times, names))
    return Plan(nodes, groups, lives, blocked, created, starts, kills)


def order_of(groups: Mapping[str, tuple[int, int]],
             rng: random.Random) -> list[str]:
    """Returns the group of each member in the order of their creation."""
    members = [(number, name) for name, (size, _) in groups.items()
               for number in range(size)]
    rng.shuffle(members)
    if rng.random() < 0.5:  # one member of each group, then a second one, …
        members.sort(key=lambda member: member[0])
    return [name for _, name in members]


class Judge:
    """Applies the rules to how many members are bound at a time."""

    def __init__(self, minimums: Mapping[str, int], now: float):
        self.minimums = dict(minimums)  # of the groups that have not started
        self.since = now  # of the last start, or of what was done after it
        self.half: dict[str, float] = {}  # since when they are half started
        # A killed scheduler may leave them half started. The next one treats
        # them as any group, so only the rule about progress applies.
        self.excused: set[str] = set()

    def disturb(self, now: float) -> None:
        """Restarts all times, because something was done to the cluster."""
        self.since = now
        self.half = dict.fromkeys(self.half, now)

    def excuse(self) -> None:
        """The scheduler was killed: excuses the groups that are half started.

        REQUIRES: observe() was called after the kill.
        """
        self.excused |= self.half.keys()

    def observe(self, now: float,
                bound: Mapping[str, int]) -> tuple[list[str], list[str]]:
        """Returns the groups that have started, and what is wrong."""
        started = [group for group, minimum in self.minimums.items()
                   if bound.get(group, 0) >= minimum]
        for group in started:
            del self.minimums[group]
        half = {group for group in self.minimums if bound.get(group, 0)}
        self.half = {group: self.half.get(group, now) for group in half}
        self.excused &= half
        wrong = [f"{group} is half started for {now - since:.1f} s: "
                 f"{bound[group]} of {self.minimums[group]}"
                 for group, since in self.half.items()
                 if group not in self.excused and now - since > HALF]
        if self.minimums and now - self.since > PROGRESS:
            wrong.append(f"none of {len(self.minimums)} groups has started for "
                         f"{now - self.since:.1f} s")
        return started, wrong
