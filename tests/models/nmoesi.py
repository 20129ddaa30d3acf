"""Writes a Murphi model of NMOESI: nmoesi.m or nmoesi_l2.m for a configuration, with the pairs of states and events of
nmoesi_pairs.csv as properties, and a mutant of nmoesi_mutants.txt put in where one is asked for."""

import csv
import dataclasses
import itertools
import re

from model import HERE, Mutant, Wrong, choose, mutate_text, read_mutants

PROPERTIES = {
    "nmoesi": ("I1", "I2", "I3", "I4", "I5", "I6", "V1", "V2", "V3"),
    "nmoesi_l2": ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "V1", "V2"),
}
LIVE = PROPERTIES["nmoesi"] + ("L1",)
# What M and O become when they are read, whether copies come from peers, and from which. (`shared` and `keep` are the
# same with peer transfer.)
CONFIGURATIONS = {
    "shared": ("shared",),
    "keep": ("keep",),
    "invalidate": ("invalidate",),
    "peer": ("peer", "keep"),
    "any_sharer": ("peer", "any_sharer", "keep"),
    "peer_invalidate": ("peer", "invalidate"),
}


@dataclasses.dataclass(frozen=True)
class Model:
    organization: str  # the file
    configuration: str
    parts: tuple = ()  # llc, boundary, cpu
    smds: int = 2
    t: int = 4  # nmoesi_l2: misses and Puts of the L2s under way at a time
    properties: tuple = ()  # all unless given
    pairs: str = ""  # all, impossible (those that are not reached), or nothing
    mutant: Mutant | None = None

    def checked(self):
        return self.properties or PROPERTIES[self.organization]

    def bounds(self):
        bound = f", {self.t} under way" if self.organization == "nmoesi_l2" else ""
        return " ".join((f"{self.smds} SMDs{bound}, {self.configuration}",) + self.parts)

    def text(self):
        text = (HERE / f"{self.organization}.m").read_text()
        names = {*CONFIGURATIONS[self.configuration], *self.parts, *self.checked()}
        text = choose(text, names).replace("@SMDS", str(self.smds)).replace("@T", str(self.t))
        if self.mutant:
            return mutate_text(text, self.mutant)
        return text + pair_properties(self) if self.pairs else text


# ----------------------------------------------------------------------------------------------------------- the pairs

STATES = ("N", "M", "O", "E", "S", "I")
ACCESSES = ("load", "store", "n-store")

# By model and table: the unit's variables, its states or phases, and when an event meets it. What a cache does itself
# (loads, stores, evictions) meets every state that it can be in while its phase is Q.
TABLES = {
    ("nmoesi", "smd", "state"): ("i: Smd", {s: f"st[i] = {s}" for s in STATES}, {
        **{access: "Running() & ph[i] = Q" for access in ACCESSES},
        "eviction": "ph[i] = Q & st[i] != I",
        "read request": "ph[i] != P & (prb[i] = ProbeRead @| prb[i] = FwdRead@)",
        "write request": "ph[i] != P & prb[i] = ProbeInv",
    }),
    # Phases of a block: while it is in Q or lines-in-G nothing else is under way.
    ("nmoesi", "hmd", "phase"): ("i: Smd", {
        "Q": "Idle()",
        "lines-in-G": "serving = Nothing & !Idle()",
        "C": "serving != Nothing & !granted",
        "G": "granted",
    }, {
        "request from a child": "(req[i] = Read | req[i] = Write)",
        "Put from a child": "(req[i] = PutBack | req[i] = Publish)",
        "answer from a child": "ans[i]",
        "Done from a child": "done[i]",
        "request from the LLC": "(llc_req = Read | llc_req = Write)",
        "Put from the LLC": "llc_req = PutBack",
        "answer from the LLC": "llc_ans",
        "Done from the LLC": "llc_done",
    }),
    ("nmoesi", "llc", "state"): ("", {s: f"llc = {s}" for s in STATES}, {
        "load": "llc_ph = Q",
        "store": "llc_ph = Q",
        "eviction": "llc_ph = Q & llc != I",
        "read request": "llc_ph != P & llc_prb = ProbeRead",
        "write request": "llc_ph != P & llc_prb = ProbeInv",
    }),
    ("nmoesi", "llc", "phase"): ("", {p: f"llc_ph = {p}" for p in "QWP"}, {
        "ProbeRead": "llc_prb = ProbeRead & llc_rsp != PutAck",
        "ProbeInv": "llc_prb = ProbeInv & llc_rsp != PutAck",
        "Data from the parent": "Data(llc_rsp)",
        "PutAck": "llc_rsp = PutAck",
    }),
    ("nmoesi", "smd", "phase"): ("i: Smd", {p: f"ph[i] = {p}" for p in "QWP"}, {
        "ProbeRead": "prb[i] = ProbeRead",
        "ProbeInv": "prb[i] = ProbeInv",
        "FwdRead": "prb[i] = FwdRead",
        "Data from the parent": "(rsp[i] = DataS | rsp[i] = DataE | rsp[i] = DataX)",
        "PeerData": "peer[i]",
        "PutAck": "(rsp[i] = PutAck | rsp[i] = Gone | rsp[i] = Keep)",
    }),
    ("nmoesi_l2", "l2", "state"): ("i: Smd; l: Line", {s: f"l2[i][l] = {s}" for s in STATES}, {
        **{access: "l2_ph[i][l] = Q" for access in ACCESSES},
        "eviction": "l2_ph[i][l] = Q & l2[i][l] != I",
        "read request": "l2_ph[i][l] != P & l2_prb[i][l] = ProbeRead",
        "write request": "l2_ph[i][l] != P & l2_prb[i][l] = ProbeInv",
    }),
    ("nmoesi_l2", "smd", "state"): ("i: Smd", {s: f"st[i] = {s}" for s in STATES}, {
        "eviction": "ph[i] = Q & Quiet(i) & st[i] != I",
        "read request": "ph[i] != P & Quiet(i) & prb[i] = ProbeRead",
        "write request": "ph[i] != P & Quiet(i) & prb[i] = ProbeInv",
    }),
    ("nmoesi_l2", "smd", "phase"): ("i: Smd; l: Line", {
        "Q": "ph[i] = Q & action[i] = Nothing & !granted[i][l]",
        "W": "ph[i] = W",
        "C": "ph[i] = Q & action[i] != Nothing",
        "G": "ph[i] = Q & granted[i][l]",
        "P": "ph[i] = P",
    }, {
        "request from a child":
            "l2_req[i][l] != NoRequest & l2_req[i][l] != PutBack & (ph[i] = W -> l != target[i])",
        "Put from a child": "l2_req[i][l] = PutBack",
        "ProbeRead": "prb[i] = ProbeRead",
        "ProbeInv": "prb[i] = ProbeInv",
        "Data from the parent": "Data(rsp[i])",
        "answer from a child": "l2_ans[i][l]",
        "Done from a child": "l2_done[i][l]",
        "PutAck": "rsp[i] = PutAck",
    }),
    ("nmoesi_l2", "l2", "phase"): ("i: Smd; l: Line", {p: f"l2_ph[i][l] = {p}" for p in "QWP"}, {
        "ProbeRead": "l2_prb[i][l] = ProbeRead",
        "ProbeInv": "l2_prb[i][l] = ProbeInv",
        "Data from the parent": "Data(l2_rsp[i][l])",
        "PutAck": "l2_rsp[i][l] = PutAck",
    }),
}


def every_pair():
    """(model, unit, table, state or phase, event) of all tables."""
    for (model, unit, table), (_, states, events) in TABLES.items():
        for state, event in itertools.product(states, events):
            yield model, unit, table, state, event


def read_pairs():
    """In which configurations a pair is reached."""
    with (HERE / "nmoesi_pairs.csv").open(newline="") as file:
        pairs = {(row["model"], row["unit"], row["table"], row["state"], row["event"]): row["reached"].split()
                 for row in csv.DictReader(file)}
    if set(pairs) != set(every_pair()):
        raise Wrong(f"nmoesi_pairs.csv does not have the pairs of nmoesi.py: {sorted(set(pairs) ^ set(every_pair()))}")
    return pairs


def meets(model, unit, table, state, event, peer):
    """When an event meets a state; nothing if the model has no such message."""
    variables, states, events = TABLES[model, unit, table]
    when = re.sub(r"@(.*?)@", r"\1" if peer else "", events[event])
    if not peer and ("FwdRead" in when or "peer" in when):
        return ""
    head = " ".join(f"exists {variable.strip()} do" for variable in variables.split(";") if variable)
    return f"{head} {states[state]} & {when} {'end ' * variables.count(':')}".strip()


def pair_properties(model):
    """A pair that is reached must be covered; that one is not reached is an invariant."""
    text = [""]
    for pair, reached in read_pairs().items():
        if pair[0] != model.organization:
            continue
        peer = "peer" in CONFIGURATIONS[model.configuration]
        condition = meets(*pair, peer)
        name = " ".join(pair[1:])
        if not condition:
            if model.configuration in reached:
                raise Wrong(f"nmoesi_pairs.csv: {name} is not reached in {model.configuration}: it has no peer transfer")
        elif model.configuration in reached or reached == ["all"]:
            if model.pairs == "all":
                text.append(f'cover "{name}" {condition};')
        else:
            text.append(f'invariant "pairs: {name} is reached" !({condition});')
    return "\n".join(text) + "\n"


def mutants():
    return read_mutants("nmoesi_mutants.txt", "nmoesi:peer")
