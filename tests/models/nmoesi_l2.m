-- NMOESI between L2 caches, Stacked Memory Directories (SMD) and the Host Memory Directory (HMD): two sizes of units.
--
-- SMDs with an L2 slice each (the L1 caches are folded into it: it loads and stores itself), one HMD, a CPU that does not
-- cache, one block of two lines, one granule a line. What begins with @ is for nmoesi.py. nmoesi.m has what lies below
-- the SMDs in full (peer transfer, LLC, kernel boundaries); this model has what lies above: owner bits, recalls, the
-- purge, and Puts that cross probes at two levels.
--
-- The content of line X is followed as in nmoesi.m. Of each class of messages at most one is under way between an L2 and
-- its SMD for a line, and between an SMD and the HMD, which is asserted: so no order within a class is assumed.
-- Probes of an SMD to its L2 go line by line, in any order.

const
  SMDS: @SMDS;
  T: @T;  -- misses and Puts of the L2s under way at a time
  X: 0;
  Old: 0;
  New: 1;

type
  Smd: scalarset(SMDS);
  Line: 0..1;
  Version: Old..New;
  Mask: array [Line] of boolean;
  State: enum {I, S, E, O, M, N};
  Phase: enum {Q, W, P};
  Access: enum {Load, NStore, Store};
  Request: enum {NoRequest, Read, ReadN, Write, PutBack};
  Probe: enum {NoProbe, ProbeRead, ProbeInv};
  Response: enum {NoResponse, DataS, DataE, DataX, PutAck};
  Action: enum {Nothing, Purge, MeetRead, MeetInv, Evict};
  Serving: enum {Nobody, SmdRead, SmdWrite, CpuRead, CpuWrite};

var
  -- The L2's lines, and their put buffers. Values are those of line X.
  l2: array [Smd] of array [Line] of State;
  l2_ph: array [Smd] of array [Line] of Phase;
  want: array [Smd] of array [Line] of Access;
  l2_mask: array [Smd] of Mask;
  l2_val: array [Smd] of Version;
  l2_put: array [Smd] of Mask;  -- what the put buffer holds
  l2_put_val: array [Smd] of Version;
  l2_spent: array [Smd] of Mask;

  -- Messages between L2 and SMD.
  l2_req: array [Smd] of array [Line] of Request;
  l2_prb: array [Smd] of array [Line] of Probe;
  l2_ans: array [Smd] of array [Line] of boolean;
  l2_ans_i: array [Smd] of array [Line] of boolean;  -- the new state is I
  l2_ans_mask: array [Smd] of Mask;
  l2_ans_val: array [Smd] of Version;
  l2_rsp: array [Smd] of array [Line] of Response;
  l2_rsp_val: array [Smd] of Version;
  l2_done: array [Smd] of array [Line] of boolean;

  -- The SMD: the block. `action`: C, what the L2 is probed for. `granted`: lines in G. `target`: the line of W and Purge.
  st: array [Smd] of State;
  ph: array [Smd] of Phase;
  action: array [Smd] of Action;
  target: array [Smd] of Line;
  bit: array [Smd] of array [Line] of boolean;
  granted: array [Smd] of array [Line] of boolean;
  mask: array [Smd] of Mask;
  val: array [Smd] of Version;
  put_mask: array [Smd] of Mask;
  put_val: array [Smd] of Version;
  spent: array [Smd] of boolean;

  -- Messages between SMD and HMD.
  req: array [Smd] of Request;
  prb: array [Smd] of Probe;
  ans: array [Smd] of boolean;
  ans_st: array [Smd] of State;
  ans_mask: array [Smd] of Mask;
  ans_val: array [Smd] of Version;
  rsp: array [Smd] of Response;
  rsp_val: array [Smd] of Version;
  done: array [Smd] of boolean;

  -- The HMD and the host's memory.
  mem: Version;
  sharer: array [Smd] of boolean;
  owner: array [Smd] of boolean;
  serving: Serving;
  asker: Smd;
  home_granted: boolean;

  -- Ghosts, as in nmoesi.m.
  latest: Version;
  open: array [Smd] of boolean;
  low: array [Smd] of Version;
  cpu_low: Version;

------------------------------------------------------------------------------------------------------------- helpers

function Some(var m: Mask): boolean; begin
  return exists l: Line do m[l] end;
end;

function Dirty(s: State): boolean; begin
  return s = N | s = M | s = O;
end;

function Exclusive(s: State): boolean; begin
  return s = M | s = E;
end;

function Data(r: Response): boolean; begin
  return r = DataS | r = DataE | r = DataX;
end;

function ProbingL2(i: Smd): boolean; begin
  return exists l: Line do l2_prb[i][l] != NoProbe | l2_ans[i][l] end;
end;

function Probing(): boolean; begin
  return exists i: Smd do prb[i] != NoProbe | action[i] = MeetRead | action[i] = MeetInv | ans[i] end;
end;

function Room(): boolean;
var n: 0..2 * SMDS;
begin
  n := 0;
  for i: Smd do
    for l: Line do
      if l2_ph[i][l] != Q then n := n + 1; end;
    end;
  end;
  return n < T;
end;

function Granting(i: Smd): boolean; begin
  return exists l: Line do granted[i][l] end;
end;

function OtherSharers(i: Smd): boolean; begin
  return exists j: Smd do j != i & sharer[j] end;
end;

procedure Settle(); begin
  if latest = New & mem = New & cpu_low = New then
    if forall i: Smd do
      low[i] = New & (l2[i][X] != I -> l2_val[i] = New) & (l2_put[i][X] -> l2_put_val[i] = New) &
      (l2_ans_mask[i][X] -> l2_ans_val[i] = New) & (Data(l2_rsp[i][X]) -> l2_rsp_val[i] = New) &
      (st[i] != I -> val[i] = New) & (put_mask[i][X] -> put_val[i] = New) &
      (ans_mask[i][X] -> ans_val[i] = New) & (Data(rsp[i]) -> rsp_val[i] = New) end
    then
      latest := Old;
      mem := Old;
      cpu_low := Old;
      for i: Smd do
        low[i] := Old;
        if l2[i][X] != I then l2_val[i] := Old; end;
        if l2_put[i][X] then l2_put_val[i] := Old; end;
        if l2_ans_mask[i][X] then l2_ans_val[i] := Old; end;
        if Data(l2_rsp[i][X]) then l2_rsp_val[i] := Old; end;
        if st[i] != I then val[i] := Old; end;
        if put_mask[i][X] then put_val[i] := Old; end;
        if ans_mask[i][X] then ans_val[i] := Old; end;
        if Data(rsp[i]) then rsp_val[i] := Old; end;
      end;
    end;
  end;
end;

procedure VisibleTo(i: Smd); begin
  open[i] := false;
  low[i] := latest;
end;

procedure Visible(); begin
  for i: Smd do VisibleTo(i); end;
  cpu_low := latest;
end;

-------------------------------------------------------------------------------------------------------------- the L2

procedure L2Request(i: Smd; l: Line; r: Request); begin
  assert "channels: two requests under way" l2_req[i][l] = NoRequest;
  l2_req[i][l] := r;
end;

procedure L2Drop(i: Smd; l: Line); begin
  l2[i][l] := I;
  l2_mask[i][l] := false;
  if l = X then undefine l2_val[i]; end;
end;

procedure Perform(i: Smd; l: Line; turn: boolean); begin
  l2_mask[i][l] := true;
  if l = X then
    if turn then latest := New; end;
    l2_val[i] := latest;
    low[i] := latest;
    if l2[i][l] = M then Visible(); else open[i] := true; end;
  end;
end;

function MayNStore(i: Smd; l: Line): boolean; begin
  return l = X -> forall j: Smd do j != i -> !open[j] end;
end;

function MayTurn(l: Line; turn: boolean): boolean; begin
  return turn -> l = X & latest = Old;
end;

-- What programs do: with `lean` they do nothing to the other line but to store to it, which purges X.
function Does(l: Line; a: Access): boolean; begin
@if lean
  return l = X | a = Store;
@else
  return true;
@end
end;

ruleset i: Smd; l: Line do
  rule "LoadHit"
    l = X & l2_ph[i][l] = Q & l2[i][l] != I & l2_val[i] > low[i]
  ==>
    low[i] := New;
    Settle();
  end;

  ruleset a: Access do
    rule "Miss"
      l2_ph[i][l] = Q & (a = Store ? !Exclusive(l2[i][l]) : l2[i][l] = I) & Room() & Does(l, a)
    ==>
      want[i][l] := a;
      l2_ph[i][l] := W;
      L2Request(i, l, a = Load ? Read : (a = NStore ? ReadN : Write));
    end;
  end;

  ruleset turn: boolean do
    rule "NStoreHit"
      l2_ph[i][l] = Q & l2[i][l] != I & MayNStore(i, l) & MayTurn(l, turn) & Does(l, NStore)
    ==>
      if l2[i][l] = E | l2[i][l] = S then l2[i][l] := N; end;
      Perform(i, l, turn);
      Settle();
    end;

    rule "StoreHit"
      l2_ph[i][l] = Q & Exclusive(l2[i][l]) & MayTurn(l, turn)
    ==>
      l2[i][l] := M;
      Perform(i, l, turn);
      Settle();
    end;

    rule "Fill"
      Data(l2_rsp[i][l]) & (turn -> want[i][l] != Load & MayTurn(l, turn)) &
      (turn & want[i][l] = NStore -> MayNStore(i, l))
    ==>
      if l = X & !l2_mask[i][l] then l2_val[i] := l2_rsp_val[i]; end;
      switch want[i][l]
        case Load: l2[i][l] := l2_rsp[i][l] = DataE ? E : S;
        case NStore:  -- a load if it would race
          if MayNStore(i, l) then
            l2[i][l] := N;
            Perform(i, l, turn);
          else
            l2[i][l] := S;
          end;
        case Store: l2[i][l] := M; Perform(i, l, turn);
      end;
      l2_rsp[i][l] := NoResponse;
      if l = X then undefine l2_rsp_val[i]; end;
      undefine want[i][l];
      l2_ph[i][l] := Q;
      l2_done[i][l] := true;
      Settle();
    end;
  end;

  rule "L2Evict"
    l2_ph[i][l] = Q & l2[i][l] != I & (Dirty(l2[i][l]) -> Room())
  ==>
    if Dirty(l2[i][l]) then
      l2_ph[i][l] := P;
      l2_put[i][l] := l2_mask[i][l];
      if l = X & l2_mask[i][l] then l2_put_val[i] := l2_val[i]; end;
      l2_spent[i][l] := false;
      L2Request(i, l, PutBack);
    end;
    L2Drop(i, l);
    Settle();
  end;

  rule "L2PutAck"
    l2_rsp[i][l] = PutAck
  ==>
    l2_rsp[i][l] := NoResponse;
    l2_ph[i][l] := Q;
    l2_put[i][l] := false;
    l2_spent[i][l] := false;
    if l = X then undefine l2_put_val[i]; end;
    Settle();
  end;

  rule "L2Probe"
    l2_prb[i][l] != NoProbe
  ==>
    l2_ans[i][l] := true;
    l2_ans_mask[i][l] := false;
    if l2_ph[i][l] = P then
      l2_ans_mask[i][l] := l2_put[i][l] & !l2_spent[i][l];
      if l = X & l2_ans_mask[i][l] then l2_ans_val[i] := l2_put_val[i]; end;
      l2_spent[i][l] := true;
    elsif l2_prb[i][l] = ProbeInv | l2[i][l] = M | l2[i][l] = O then
      l2_ans_mask[i][l] := l2_mask[i][l];
      if l = X & l2_mask[i][l] then l2_ans_val[i] := l2_val[i]; end;
      l2_mask[i][l] := false;
      if l2_prb[i][l] = ProbeInv then
        L2Drop(i, l);
      else
@if shared
        l2[i][l] := S;
@end
@if keep
        l2[i][l] := O;
@end
@if invalidate
        if l2[i][l] = O then L2Drop(i, l); else l2[i][l] := O; end;
@end
      end;
    elsif l2[i][l] = E then
      l2[i][l] := S;
    end;
    l2_ans_i[i][l] := l2[i][l] = I;
    l2_prb[i][l] := NoProbe;
    Settle();
  end;
end;

------------------------------------------------------------------------------------------------------------- the SMD

procedure Respond(i: Smd; l: Line; r: Response); begin
  assert "channels: two responses under way" l2_rsp[i][l] = NoResponse;
  l2_rsp[i][l] := r;
  if l = X & Data(r) then l2_rsp_val[i] := val[i]; end;
end;

procedure GrantLine(i: Smd; l: Line; r: Response); begin
  bit[i][l] := true;
  granted[i][l] := true;
  Respond(i, l, r);
end;

procedure GrantRead(i: Smd; l: Line; r: Request); begin
  GrantLine(i, l, r = Read & Exclusive(st[i]) ? DataE : DataS);
end;

-- Bytes of a line from the L2: merged under the mask, and the block's state moves.
procedure Merge(i: Smd; l: Line; var m: Mask; var v: Version); begin
  if m[l] then
    if l = X then val[i] := v; end;
    mask[i][l] := true;
    if st[i] = E then st[i] := M; elsif st[i] = S then st[i] := N; end;
  end;
end;

procedure SendRequest(i: Smd; r: Request); begin
  assert "channels: two requests under way" req[i] = NoRequest;
  req[i] := r;
end;

procedure Drop(i: Smd); begin
  st[i] := I;
  clear mask[i];
  clear bit[i];
  undefine val[i];
end;

procedure Answer(i: Smd; var m: Mask; var v: Version); begin
  ans[i] := true;
  ans_st[i] := st[i];
  ans_mask[i] := m;
  if m[X] then ans_val[i] := v; end;
end;

-- Every line has been recalled, and the block is exclusive now.
procedure EndPurge(i: Smd); begin
  st[i] := Some(mask[i]) ? M : E;
  VisibleTo(i);
  GrantLine(i, target[i], DataX);
  undefine target[i];
end;

procedure EndMeetRead(i: Smd);
var nothing: Mask;
begin
  clear nothing;
  if st[i] = M | st[i] = O then
    Answer(i, mask[i], val[i]);
    clear mask[i];
@if shared
    st[i] := S;
@end
@if keep
    st[i] := O;
@end
@if invalidate
    if st[i] = O then Drop(i); else st[i] := O; end;
@end
    ans_st[i] := st[i];
  else
    if st[i] = E then st[i] := S; end;
    Answer(i, nothing, mem);
  end;
end;

procedure EndMeetInv(i: Smd); begin
  Answer(i, mask[i], val[i]);
  Drop(i);
  ans_st[i] := I;
end;

procedure EndEvict(i: Smd); begin
  if Dirty(st[i]) then
    ph[i] := P;
    put_mask[i] := mask[i];
    if mask[i][X] then put_val[i] := val[i]; end;
    spent[i] := false;
    SendRequest(i, PutBack);
  end;
  Drop(i);
end;

procedure EndAction(i: Smd);
var a: Action;
begin
  a := action[i];
  action[i] := Nothing;
  switch a
    case Purge: EndPurge(i);
    case MeetRead: EndMeetRead(i);
    case MeetInv: EndMeetInv(i);
    case Evict: EndEvict(i);
  end;
end;

-- The L2 is probed for the lines whose owner bit is set; not for the target of a purge.
procedure Start(i: Smd; a: Action); begin
  action[i] := a;
  for l: Line do
    if bit[i][l] then
      if a = Purge then
        if l != target[i] then l2_prb[i][l] := ProbeInv; end;
@if invalidate
      -- A block in O is invalidated, and its lines with it.
      elsif a = MeetRead & st[i] = O then
        l2_prb[i][l] := ProbeInv;
@end
      else
        l2_prb[i][l] := a = MeetRead ? ProbeRead : ProbeInv;
      end;
    end;
  end;
  if !ProbingL2(i) then EndAction(i); end;
end;

function Quiet(i: Smd): boolean; begin
  return action[i] = Nothing & !Granting(i);
end;

ruleset i: Smd; l: Line do
  -- A line whose block is here.
  rule "SmdRead"
    (l2_req[i][l] = Read | l2_req[i][l] = ReadN) & ph[i] = Q & action[i] = Nothing & !granted[i][l] & st[i] != I
  ==>
    GrantRead(i, l, l2_req[i][l]);
    l2_req[i][l] := NoRequest;
  end;

  rule "SmdWrite"
    l2_req[i][l] = Write & ph[i] = Q & action[i] = Nothing & !granted[i][l] & Exclusive(st[i])
  ==>
    GrantLine(i, l, DataX);
    l2_req[i][l] := NoRequest;
  end;

  -- The HMD is asked when no line of the block is in G. The request stays until the answer is there.
  rule "SmdMiss"
    ph[i] = Q & Quiet(i) &
    (((l2_req[i][l] = Read | l2_req[i][l] = ReadN) & st[i] = I) | (l2_req[i][l] = Write & !Exclusive(st[i])))
  ==>
    ph[i] := W;
    target[i] := l;
    SendRequest(i, l2_req[i][l] = Write ? Write : Read);
  end;

  rule "SmdPut"
    l2_req[i][l] = PutBack & ph[i] != P & action[i] = Nothing & !granted[i][l]
  ==>
    l2_req[i][l] := NoRequest;
    if bit[i][l] then
@if I6
      assert "I6 bytes are merged twice" !l2_spent[i][l] | !l2_put[i][l];
@end
      if l = X then Merge(i, l, l2_put[i], l2_put_val[i]); else Merge(i, l, l2_put[i], mem); end;
      bit[i][l] := false;
@if I6
    else
      assert "I6 bytes of a stale Put are lost" l2_spent[i][l] | !l2_put[i][l];
@end
    end;
    Respond(i, l, PutAck);
    Settle();
  end;

  rule "SmdDone"
    l2_done[i][l]
  ==>
    l2_done[i][l] := false;
    granted[i][l] := false;
  end;

  rule "SmdAnswer"
    l2_ans[i][l]
  ==>
    if l = X then Merge(i, l, l2_ans_mask[i], l2_ans_val[i]); else Merge(i, l, l2_ans_mask[i], mem); end;
    if l2_ans_i[i][l] then bit[i][l] := false; end;
    l2_ans[i][l] := false;
    l2_ans_i[i][l] := false;
    l2_ans_mask[i][l] := false;
    if l = X then undefine l2_ans_val[i]; end;
    if !ProbingL2(i) then EndAction(i); end;
    Settle();
  end;
end;

ruleset i: Smd do
  rule "SmdFill"
    rsp[i] = DataS | rsp[i] = DataE
  ==>
    st[i] := rsp[i] = DataE ? E : S;
    val[i] := rsp_val[i];
    rsp[i] := NoResponse;
    undefine rsp_val[i];
    ph[i] := Q;
    done[i] := true;
    GrantRead(i, target[i], l2_req[i][target[i]]);
    l2_req[i][target[i]] := NoRequest;
    undefine target[i];
    Settle();
  end;

  -- Own bytes are laid over what comes; then the purge.
  rule "SmdFillX"
    rsp[i] = DataX
  ==>
    if !mask[i][X] then val[i] := rsp_val[i]; end;
    if st[i] = I then st[i] := S; end;
    rsp[i] := NoResponse;
    undefine rsp_val[i];
    ph[i] := Q;
    done[i] := true;
    l2_req[i][target[i]] := NoRequest;
    Start(i, Purge);
    Settle();
  end;

  rule "SmdPutAck"
    rsp[i] = PutAck
  ==>
    rsp[i] := NoResponse;
    ph[i] := Q;
    clear put_mask[i];
    undefine put_val[i];
    spent[i] := false;
    Settle();
  end;

  rule "SmdEvict"
    ph[i] = Q & Quiet(i) & st[i] != I
  ==>
    Start(i, Evict);
    Settle();
  end;

  -- At once in Q and W, after C and G, and from the put buffer in P.
  rule "SmdProbe"
    prb[i] != NoProbe & (ph[i] = P | Quiet(i))
  ==>
    if ph[i] = P then
      if spent[i] then clear put_mask[i]; end;
      Answer(i, put_mask[i], put_val[i]);
      spent[i] := true;
    else
      Start(i, prb[i] = ProbeRead ? MeetRead : MeetInv);
    end;
    prb[i] := NoProbe;
    Settle();
  end;
end;

------------------------------------------------------------------------------------------------------------- the HMD

procedure SendProbe(i: Smd; p: Probe); begin
  assert "channels: two probes under way" prb[i] = NoProbe & !ans[i];
  prb[i] := p;
end;

procedure Forget(i: Smd); begin
  sharer[i] := false;
  owner[i] := false;
end;

procedure Finish(); begin
  serving := Nobody;
  home_granted := false;
  undefine asker;
end;

function Has(i: Smd): boolean; begin
  return (l2_mask[i][X] & l2_val[i] = latest) | (mask[i][X] & val[i] = latest) |
         (l2_put[i][X] & !l2_spent[i][X] & l2_put_val[i] = latest);
end;

procedure HomeRespond(r: Response); begin
  assert "channels: two responses under way" rsp[asker] = NoResponse;
  rsp[asker] := r;
  rsp_val[asker] := mem;
  home_granted := true;
end;

procedure Complete(); begin
  switch serving
    case SmdRead:
      sharer[asker] := true;
      owner[asker] := !OtherSharers(asker);
      if owner[asker] then
@if V2
        assert "V2 a store is lost at an exclusive grant" mem = latest;
@end
        Visible();
        HomeRespond(DataE);
      else
        HomeRespond(DataS);
      end;
    case SmdWrite:
      for i: Smd do
        sharer[i] := i = asker;
        owner[i] := i = asker;
        if i != asker then VisibleTo(i); end;
      end;
      cpu_low := latest;
@if V2
      assert "V2 a store is lost at an exclusive grant" mem = latest | Has(asker);
@end
      HomeRespond(DataX);
    case CpuRead:
@if V1
      assert "V1 a load of the CPU returns a version that it knows to be old" mem >= cpu_low;
@end
      cpu_low := mem;
      Finish();
    case CpuWrite:
      for i: Smd do Forget(i); end;
@if V2
      assert "V2 a store is lost at a store of the CPU" mem = latest;
@end
      Visible();
      Finish();
  end;
end;

ruleset i: Smd do
  rule "HomeRead"
    serving = Nobody & req[i] = Read
  ==>
    req[i] := NoRequest;
    serving := SmdRead;
    asker := i;
    for o: Smd do
      if o != i & owner[o] then SendProbe(o, ProbeRead); end;
    end;
    if !Probing() then Complete(); end;
    Settle();
  end;

  rule "HomeWrite"
    serving = Nobody & req[i] = Write
  ==>
    req[i] := NoRequest;
    serving := SmdWrite;
    asker := i;
    for o: Smd do
      if o != i & sharer[o] then SendProbe(o, ProbeInv); end;
    end;
    if !Probing() then Complete(); end;
    Settle();
  end;

  rule "HomePut"
    serving = Nobody & req[i] = PutBack
  ==>
    req[i] := NoRequest;
    if sharer[i] then
      if put_mask[i][X] then mem := put_val[i]; end;
@if I6
      assert "I6 bytes are merged twice" !spent[i] | !Some(put_mask[i]);
    else
      assert "I6 bytes of a stale Put are lost" spent[i] | !Some(put_mask[i]);
@end
    end;
    Forget(i);
    rsp[i] := PutAck;
    Settle();
  end;

  rule "ReceiveAnswer"
    ans[i]
  ==>
    if ans_mask[i][X] then mem := ans_val[i]; end;
    if ans_st[i] = I then Forget(i); else owner[i] := ans_st[i] = O; end;
    ans[i] := false;
    undefine ans_st[i];
    undefine ans_val[i];
    clear ans_mask[i];
    if !Probing() then Complete(); end;
    Settle();
  end;

  rule "ReceiveDone"
    done[i]
  ==>
    done[i] := false;
    Finish();
    Settle();
  end;
end;

@if cpu
rule "CpuLoad"
  serving = Nobody & exists i: Smd do owner[i] end
==>
  serving := CpuRead;
  for o: Smd do
    if owner[o] then SendProbe(o, ProbeRead); end;
  end;
  Settle();
end;

-- With zero bytes, or a store after it.
rule "CpuStore"
  serving = Nobody & exists i: Smd do sharer[i] end
==>
  serving := CpuWrite;
  for o: Smd do
    if sharer[o] then SendProbe(o, ProbeInv); end;
  end;
  Settle();
end;

rule "CpuStoreTurns"
  serving = Nobody & latest = Old & forall i: Smd do !sharer[i] end
==>
  latest := New;
  mem := New;
  Visible();
  Settle();
end;

@end
----------------------------------------------------------------------------------------------------- the properties

startstate
  clear l2_mask; clear l2_put; clear l2_spent; clear l2_ans; clear l2_ans_i; clear l2_ans_mask; clear l2_done;
  clear bit; clear granted; clear mask; clear put_mask; clear spent; clear ans; clear ans_mask; clear done;
  clear sharer; clear owner; clear open; clear low;
  mem := Old;
  latest := Old;
  cpu_low := Old;
  serving := Nobody;
  home_granted := false;
  for i: Smd do
    for l: Line do
      l2[i][l] := I;
      l2_ph[i][l] := Q;
      l2_req[i][l] := NoRequest;
      l2_prb[i][l] := NoProbe;
      l2_rsp[i][l] := NoResponse;
    end;
    st[i] := I;
    ph[i] := Q;
    action[i] := Nothing;
    req[i] := NoRequest;
    prb[i] := NoProbe;
    rsp[i] := NoResponse;
  end;
end;

@if I1
invariant "I1 a block in M or E is not the only one"
  forall i: Smd do Exclusive(st[i]) -> forall j: Smd do j != i -> st[j] = I end end;

@end
@if I2
invariant "I2 a line in M or E, and its block is not"
  forall i: Smd do forall l: Line do Exclusive(l2[i][l]) -> Exclusive(st[i]) end end;

invariant "I2 a block in M or E whose SMD is not the owner, or not the only sharer"
  forall i: Smd do Exclusive(st[i]) -> owner[i] & !OtherSharers(i) end;

@end
@if I3
invariant "I3 a line is not known to the SMD"
  forall i: Smd do forall l: Line do l2[i][l] != I -> st[i] != I & bit[i][l] end end;

invariant "I3 a block is not known to the HMD"
  forall i: Smd do (st[i] != I -> sharer[i]) & (st[i] = O -> owner[i]) end;

@end
@if I4
invariant "I4 a mask in E, S or I"
  forall i: Smd do
    (Some(mask[i]) -> Dirty(st[i])) & forall l: Line do l2_mask[i][l] -> Dirty(l2[i][l]) end end;

@end
@if I5
invariant "I5 an old version may be merged over a newer one"
  latest = New -> forall i: Smd do
    (l2_mask[i][X] -> l2_val[i] = New) &
    (mask[i][X] & val[i] = New ->
      (l2_req[i][X] = PutBack & bit[i][X] & l2_put[i][X] -> l2_put_val[i] = New) &
      (l2_ans[i][X] & l2_ans_mask[i][X] -> l2_ans_val[i] = New)) &
    (mem = New ->
      (mask[i][X] -> val[i] = New) &
      (req[i] = PutBack & sharer[i] & put_mask[i][X] -> put_val[i] = New) &
      (ans[i] & ans_mask[i][X] -> ans_val[i] = New)) end;

@end
@if I7
invariant "I7 the L2 has an old copy of a line of a block in M or E"
  forall i: Smd do
    Exclusive(st[i]) & action[i] = Nothing & l2_ph[i][X] = Q & l2[i][X] != I & !l2_mask[i][X] -> l2_val[i] = val[i] end;

invariant "I7 a block in M or E has an old line"
  forall i: Smd do Exclusive(st[i]) & !mask[i][X] -> val[i] = mem end;

@end
@if V1
invariant "V1 a load returns a version that its GPU knows to be old"
  forall i: Smd do l2_ph[i][X] = Q & l2[i][X] != I -> l2_val[i] >= low[i] end;

@end
@if V2
invariant "V2 a store is lost"
  latest = New -> mem = New | exists i: Smd do
    (l2_mask[i][X] & l2_val[i] = New) | (l2_put[i][X] & !l2_spent[i][X] & l2_put_val[i] = New) |
    (l2_ans[i][X] & l2_ans_mask[i][X] & l2_ans_val[i] = New) | (mask[i][X] & val[i] = New) |
    (put_mask[i][X] & !spent[i] & put_val[i] = New) | (ans[i] & ans_mask[i][X] & ans_val[i] = New) end;

@end
@if L1
liveness "L1 not everything can come to an end"
  serving = Nobody & forall i: Smd do
    ph[i] = Q & action[i] = Nothing & !done[i] & forall l: Line do l2_ph[i][l] = Q & !granted[i][l] end end;

@end
