-- A coherence directory without acknowledgments or transient states, and messages that take any time.
--
-- One home GPU with a directory, remote GPUs with an L2 cache each, lines of one block or range, two words a line (so
-- that stores of parts of lines and false sharing exist). The directory's entry is in a file for each organization;
-- what the home does is generated from transitions.csv, a branch for each row. What begins with @ is for model.py.
--
-- The content of one word is followed, any of the line FOLLOWED: contents never decide what happens next, and lines are
-- alike. Of its versions is known whether they come, in the home order, before a certain store or not: Old or New. Any
-- store may be that one, so any two versions are told apart in some run, and the number of stores is not bounded. A
-- store that the home has not ordered yet is visible to its own GPU only, and later than everything ordered.
-- What must not be read is undefined.

const
  LINES: @LINES;
  GPUS: @GPUS;  -- without the home
  Q: @Q;     -- transactions of a GPU under way: stores that the home has not ordered, loads that have not returned
  T: @T;     -- transactions of all GPUs under way
  I: @I;     -- invalidations of a line, or of the block, under way to a GPU
  FOLLOWED: 0;
  Old: 0;
  New: 1;

type
@if symmetric
  Rem: scalarset(GPUS);
@else
  Rem: 1..GPUS;
@end
  Line: 0..LINES - 1;
  Word: 0..1;
  Place: 0..Q - 1;
  Count: 0..Q;
  Version: 0..1 + Q;  -- New + j: the j-th of the stores of its GPU to the word that are under way
  Fill: enum {None, Pending, Poisoned};
  Request: enum {Read, Write, WriteBeside};  -- WriteBeside: not of the followed word
  Requests: record count: Count; kind: array [Place] of Request; end;

var
  word: Word;  -- that is followed

  mem: Old..New;  -- the home's L2 and memory

  -- A remote GPU: its L2, and its pending fills.
  copy: array [Rem] of array [Line] of boolean;
  data: array [Rem] of Version;
  fill: array [Rem] of array [Line] of Fill;

  -- Messages under way. Requests of a GPU for a line keep their order. A line has one fill at most, so one response.
  -- Invalidations have no order, but a Marker does not overtake them.
  req: array [Rem] of array [Line] of Requests;
  rsp: array [Rem] of array [Line] of boolean;
  rsp_data: array [Rem] of Old..New;
@if inv_line
  inv: array [Rem] of array [Line] of 0..I;
@end
@if inv_block
  inv_block: array [Rem] of 0..I;
@end
  marker: array [Rem] of boolean;

  -- Ghosts. low: no load made from now on may return less: the GPU's own last store (P4), what a load of it has returned
  -- (P5), and what the last boundary has made final. floor: what was low when the loads that wait for a fill were made.
  low: array [Rem] of Version;
  floor: array [Rem] of Version;
@if P7
  written: array [Line] of boolean;  -- since the last boundary
@end

---------------------------------------------------------------------------------------------- the directory's entry

@organization

function OthersShare(l: Line; r: Rem): boolean; begin
  return exists o: Rem do o != r & Shares(l, o) end;
end;

procedure AddSharer(l: Line; r: Rem); begin
  Track(l);
  SetShares(l, r, true);
end;

procedure SoleSharer(l: Line; r: Rem); begin
  Track(l);
  for o: Rem do SetShares(l, o, o = r); end;
end;

function OtherLinesTracked(l: Line): boolean; begin
  return exists k: Line do k != l & Tracked(k) end;
end;

------------------------------------------------------------------------------------------------------- the messages

@if inv_line
procedure SendInv(r: Rem; l: Line); begin
  inv[r][l] := inv[r][l] + 1;
end;

@end
@if inv_block
procedure SendInvBlock(r: Rem); begin
  inv_block[r] := inv_block[r] + 1;
end;

@end
function InvComes(r: Rem; l: Line): boolean; begin
@if inv_line
  if inv[r][l] > 0 then return true; end;
@end
@if inv_block
  if inv_block[r] > 0 then return true; end;
@end
  return false;
end;

function NoInvComes(r: Rem): boolean; begin
  return forall l: Line do !InvComes(r, l) end;
end;

-- The home acts on a line only if there is room for what it may have to send. The bound is the model's alone.
function Room(l: Line): boolean; begin
@if inv_line
  if exists r: Rem do inv[r][l] = I end then return false; end;
@end
@if inv_block
  if exists r: Rem do inv_block[r] = I end then return false; end;
@end
  return true;
end;

procedure Push(r: Rem; l: Line; kind: Request); begin
  alias q: req[r][l] do
    q.kind[q.count] := kind;
    q.count := q.count + 1;
  end;
end;

procedure Remove(r: Rem; l: Line; at: Place); begin
  alias q: req[r][l] do
    for i: Place do
      if i >= at & i + 1 < q.count then q.kind[i] := q.kind[i + 1]; end;
    end;
    q.count := q.count - 1;
    undefine q.kind[q.count];
  end;
end;

function WriteComes(r: Rem; l: Line): boolean; begin
  return exists i: Place do i < req[r][l].count & req[r][l].kind[i] != Read end;
end;

-- Stores of r to the followed word among its first n requests.
function StoresComing(r: Rem; n: Count): Count;
var stores: Count;
begin
  stores := 0;
  for i: Place do
    if i < n then
      if req[r][FOLLOWED].kind[i] = Write then stores := stores + 1; end;
    end;
  end;
  return stores;
end;

function Transactions(r: Rem): Count;
var n: Count;
begin
  n := 0;
  for l: Line do
    n := n + req[r][l].count;
    if rsp[r][l] then n := n + 1; end;
  end;
  return n;
end;

function NothingComes(r: Rem): boolean; begin
  return forall l: Line do req[r][l].count = 0 & !rsp[r][l] & fill[r][l] = None end;
end;

-- Between the Markers and the end of a boundary nobody loads or stores.
function Running(): boolean; begin
  return forall r: Rem do !marker[r] end;
end;

function MayBegin(r: Rem): boolean;
@if crowded
var n: 0..T;
@end
begin
  if !Running() | Transactions(r) = Q then return false; end;
@if crowded
  n := 0;
  for o: Rem do n := n + Transactions(o); end;
  return n < T;
@else
  return true;
@end
end;

------------------------------------------------------------------------------------------------------- the versions

-- The j-th store of a GPU under way is now ordered.
procedure Order(var v: Version; j: Count); begin
  if v = New + j then
    v := mem;
  elsif v > New + j then
    v := v - 1;
  end;
end;

procedure OrderStore(r: Rem; j: Count); begin
  if copy[r][FOLLOWED] then Order(data[r], j); end;
  if fill[r][FOLLOWED] != None then Order(floor[r], j); end;
  Order(low[r], j);
end;

-- When nothing older than New is left, all of it may be called Old.
procedure Settle(); begin
  if mem = New then
    if forall r: Rem do
      low[r] != Old & (copy[r][FOLLOWED] -> data[r] != Old) & (fill[r][FOLLOWED] != None -> floor[r] != Old) &
      (rsp[r][FOLLOWED] -> rsp_data[r] != Old) end
    then
      mem := Old;
      for r: Rem do
        if low[r] = New then low[r] := Old; end;
        if copy[r][FOLLOWED] then if data[r] = New then data[r] := Old; end; end;
        if fill[r][FOLLOWED] != None then if floor[r] = New then floor[r] := Old; end; end;
        if rsp[r][FOLLOWED] then rsp_data[r] := Old; end;
      end;
    end;
  end;
end;

------------------------------------------------------------------------------ what the home does, from the table

@table

------------------------------------------------------------------------------------------------- a GPU and its L2

procedure Invalidate(r: Rem; l: Line); begin
  copy[r][l] := false;
  if l = FOLLOWED then undefine data[r]; end;
end;

procedure Poison(r: Rem; l: Line); begin
  if fill[r][l] = Pending then fill[r][l] := Poisoned; end;
end;

-- `hits`: the followed word, if it is of this line.
procedure Store(r: Rem; l: Line; hits: boolean);
var v: Version;
begin
  Poison(r, l);
  if l != FOLLOWED then
    Push(r, l, Write);
  elsif !hits then
    Push(r, l, WriteBeside);
  else
    v := New + 1 + StoresComing(r, req[r][l].count);
    if copy[r][l] then data[r] := v; end;
@if P4
    low[r] := v;
@end
    Push(r, l, Write);
  end;
end;

-- A load of the followed word returns v; low was `least` when it was made.
procedure Answer(r: Rem; v: Version; least: Version); begin
@if loads
  assert "@LOADS a load returns a version that its GPU knows to be old" v >= least;
@end
@if P5
  if v > low[r] then low[r] := v; end;
@end
end;

-- An invalidation, for one line of it.
procedure ReceiveInv(r: Rem; l: Line); begin
  Poison(r, l);
  if copy[r][l] then Invalidate(r, l); end;
end;

-- A load that hits, or merges with a fill, changes nothing but ghosts, so these two rules fire only where they would.
ruleset r: Rem do
  rule "LoadHit"
@if P5
    Running() & copy[r][FOLLOWED] & data[r] != low[r]
@else
    Running() & copy[r][FOLLOWED] & data[r] < low[r]
@end
  ==>
    Answer(r, data[r], low[r]);
    Settle();
  end;

  -- A poisoned fill takes no loads. In the model they wait until it is back; a cache sends a second request.
  rule "LoadMerge"
    Running() & !copy[r][FOLLOWED] & fill[r][FOLLOWED] = Pending & floor[r] < low[r]
  ==>
    floor[r] := low[r];
    Settle();
  end;
end;

ruleset r: Rem; l: Line do
  rule "LoadMiss"
    !copy[r][l] & fill[r][l] = None & MayBegin(r)
  ==>
    fill[r][l] := Pending;
    if l = FOLLOWED then floor[r] := low[r]; end;
    Push(r, l, Read);
  end;

  -- Of both words.
  rule "StoreFull"
    MayBegin(r)
  ==>
    copy[r][l] := true;
    Store(r, l, true);
    Settle();
  end;

  -- Of word 0.
  rule "StorePart"
    MayBegin(r)
  ==>
    Store(r, l, word = 0);
    Settle();
  end;

  rule "DeliverRsp"
    rsp[r][l]
  ==>
    if l = FOLLOWED then Answer(r, rsp_data[r], floor[r]); end;
    if fill[r][l] = Pending then
@if P8
      assert "P8 a fill that is not poisoned meets a valid copy" !copy[r][l];
@end
      copy[r][l] := true;
      if l = FOLLOWED then data[r] := rsp_data[r]; end;
    end;
    fill[r][l] := None;
    rsp[r][l] := false;
    if l = FOLLOWED then undefine floor[r]; undefine rsp_data[r]; end;
    Settle();
  end;

  rule "SilentEvict"
    copy[r][l]
  ==>
    Invalidate(r, l);
    Settle();
  end;
end;

@if inv_line
ruleset r: Rem; l: Line do
  rule "DeliverInv"
    inv[r][l] > 0
  ==>
    inv[r][l] := inv[r][l] - 1;
    ReceiveInv(r, l);
    Settle();
  end;
end;

@end
@if inv_block
ruleset r: Rem do
  rule "DeliverInvBlock"
    inv_block[r] > 0
  ==>
    inv_block[r] := inv_block[r] - 1;
    for l: Line do ReceiveInv(r, l); end;
    Settle();
  end;
end;

@end
----------------------------------------------------------------------------------------------------------- the home

-- Only the first request for a line leaves its channel. The directory acts when the request is ordered.
ruleset r: Rem; l: Line; i: Place do
  rule "HomeRead"
    i = 0 & i < req[r][l].count & req[r][l].kind[i] = Read
  ==>
    Remove(r, l, i);
    RemoteRead(r, l);
    rsp[r][l] := true;
    if l = FOLLOWED then rsp_data[r] := mem; end;
  end;

  -- A store to the followed word may be the one from which on versions are New.
  ruleset turn: boolean do
    rule "HomeWrite"
      i = 0 & i < req[r][l].count & req[r][l].kind[i] != Read & Room(l) &
      (turn -> l = FOLLOWED & req[r][l].kind[i] = Write & mem = Old)
    ==>
      if turn then mem := New; end;
      if l = FOLLOWED & req[r][l].kind[i] = Write then OrderStore(r, StoresComing(r, i + 1)); end;
      Remove(r, l, i);
      RemoteWrite(r, l);
@if P7
      written[l] := true;
@end
      Settle();
    end;
  end;
end;

-- Of word 1.
ruleset l: Line; turn: boolean do
  rule "LocalStore"
    Running() & Room(l) & (turn -> l = FOLLOWED & word = 1 & mem = Old)
  ==>
    if turn then mem := New; end;
    LocalWrite(l);
@if P7
    written[l] := true;
@end
    Settle();
  end;
end;

@if evictions
-- An entry may be replaced at any time, which covers every policy. (Not between the Markers and the end of a boundary,
-- when the home serves nobody: that is the same as a replacement right after it.)
@if line
ruleset l: Line do
  rule "EvictEntry"
    Running() & HasEntry(l) & Room(l)
  ==>
    Replacement(l);
  end;
end;
@else
rule "EvictEntry"
  Running() & valid & forall l: Line do Room(l) end
==>
  for l: Line do
    if HasEntry(l) then Replacement(l); end;
  end;
end;
@end

@end
------------------------------------------------------------------------------------------------------- the boundary

-- No load or store is under way: those that would have come do not come before the boundary is complete.
rule "SendMarkers"
  Running() & forall r: Rem do NothingComes(r) end
==>
  for r: Rem do marker[r] := true; end;
end;

-- Not before the invalidations. When the last one is there the boundary is complete, and what memory holds is final.
ruleset r: Rem do
  rule "DeliverMarker"
    marker[r] & NoInvComes(r)
  ==>
    marker[r] := false;
    if Running() then
      for q: Rem do
@if P1
        assert "P1 at a boundary a copy is not what memory holds" copy[q][FOLLOWED] -> data[q] = mem;
@end
        low[q] := mem;
      end;
      Settle();
@if P7
      clear written;
@end
    end;
  end;
end;

ruleset followed: Word do
  startstate
    word := followed;
    mem := Old;
    Empty();
@if P7
    clear written;
@end
    for r: Rem do
      for l: Line do
        copy[r][l] := false;
        fill[r][l] := None;
        req[r][l].count := 0;
        rsp[r][l] := false;
@if inv_line
        inv[r][l] := 0;
@end
      end;
@if inv_block
      inv_block[r] := 0;
@end
      marker[r] := false;
      low[r] := Old;
    end;
  end;
end;

----------------------------------------------------------------------------------------------------- the properties

@if P1
invariant "P1 nothing is under way and a copy is not what memory holds"
  (forall r: Rem do NothingComes(r) & NoInvComes(r) end) ->
  forall r: Rem do copy[r][FOLLOWED] -> data[r] = mem end;

@end
@if P2
invariant "P2 a copy is not tracked, and neither an invalidation nor a store of its GPU is under way"
  forall r: Rem do forall l: Line do
    copy[r][l] -> Shares(l, r) | InvComes(r, l) | WriteComes(r, l) end end;

@end
@if P3
invariant "P3 an entry is not well formed"
@if line
  forall l: Line do valid[l] = exists r: Rem do Shares(l, r) end end;
@else
  valid = (exists l: Line do Tracked(l) end) &
  forall l: Line do Tracked(l) = exists r: Rem do Shares(l, r) end end;
@end

@end
@if P6
-- From every state one is reached in which the last Marker can arrive.
liveness "P6 a boundary can not complete"
  exists r: Rem do marker[r] & NoInvComes(r) & forall o: Rem do o != r -> !marker[o] end end;

@end
@if P7
invariant "P7 a line that was not written is invalidated"
  forall r: Rem do forall l: Line do InvComes(r, l) -> written[l] end end;

@end
