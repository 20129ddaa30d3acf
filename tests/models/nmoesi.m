-- NMOESI between Stacked Memory Directories (SMD) and the Host Memory Directory (HMD), and messages that take any time.
--
-- SMDs with their L1 and L2 caches folded in (an SMD loads and stores itself), one HMD, the host's last-level cache
-- (LLC), one block of two granules. What begins with @ is for nmoesi.py.
--
-- The content of granule X is followed; granules are alike. Of its versions is known whether they come before a certain
-- store or not: Old or New. Any store may be that one, so the number of stores is not bounded. Programs have no races
-- on X: an n-store waits while an n-store of another SMD to X has not been made visible to all. (All else may race, and
-- the other granule is the one that others write meanwhile.)
--
-- Of each class (request, probe, response) and direction at most one message is under way between an SMD and the HMD,
-- which is asserted wherever one is sent. So no order within a class is assumed; classes overtake each other.
-- The same holds between the LLC and the HMD, but that an acknowledgement of a Put is not overtaken by a probe.
--
-- The LLC asks for lines and the HMD keeps no bits for it: it remembers whether the LLC may hold any line of the block,
-- and whether bytes of a Put that is under way have come with the answer to a probe. Of the LLC's lines the model has
-- the one of X; of the others only that the LLC may hold them, and that they may be granted beside X.

const
  SMDS: @SMDS;
  X: 0;
  Old: 0;
  New: 1;

type
  Smd: scalarset(SMDS);
  Granule: 0..1;
  Version: Old..New;
  Mask: array [Granule] of boolean;
  State: enum {I, S, E, O, M, N};
  Phase: enum {Q, W, P};
  Access: enum {Load, NStore, Store};
  Request: enum {NoRequest, Read, Write, PutBack, Publish};
  Probe: enum {NoProbe, ProbeRead, FwdRead, ProbeInv};
  Response: enum {NoResponse, DataS, DataE, DataX, PutAck, Keep, Gone};
  Serving: enum {Nothing, SmdRead, SmdWrite, SmdPublish, LlcRead, LlcWrite, Marks};

var
  -- An SMD: stable state, phase, the copy and its mask. W: for which access. P: the put buffer, whether a probe has
  -- taken its bytes, and whether it is a Publish (the copy is kept until it is acknowledged).
  st: array [Smd] of State;
  ph: array [Smd] of Phase;
  want: array [Smd] of Access;
  val: array [Smd] of Version;
  mask: array [Smd] of Mask;
  put_val: array [Smd] of Version;
  put_mask: array [Smd] of Mask;
  spent: array [Smd] of boolean;
  publishing: array [Smd] of boolean;

  -- Messages under way. What a Put carries is in the put buffer.
  req: array [Smd] of Request;
  prb: array [Smd] of Probe;
  ans: array [Smd] of boolean;  -- ProbeAck, ProbeData or DirUpdate
  ans_st: array [Smd] of State;  -- new state
  ans_mask: array [Smd] of Mask;
  ans_val: array [Smd] of Version;
  ans_sent: array [Smd] of boolean;  -- PeerData has been sent
  rsp: array [Smd] of Response;
  rsp_val: array [Smd] of Version;
@if peer
  peer: array [Smd] of boolean;  -- PeerData to this SMD
  peer_val: array [Smd] of Version;
@end
  done: array [Smd] of boolean;

  -- The HMD and the host's memory.
  mem: Version;
  mark: boolean;
  sharer: array [Smd] of boolean;
  owner: array [Smd] of boolean;
  serving: Serving;
  asker: Smd;
  granted: boolean;  -- G: the answer has been sent
  finished: boolean;  -- Done came before the DirUpdate
  others: boolean;  -- a Publish has met another sharer or a marked block

@if llc
  -- The LLC, as an SMD; its mask is that of X.
  llc: State;
  llc_ph: Phase;
  llc_want: Access;
  llc_val: Version;
  llc_mask: boolean;
  llc_put_val: Version;
  llc_put_mask: boolean;
  llc_spent: boolean;

  -- Messages between the LLC and the HMD.
  llc_req: Request;
  llc_prb: Probe;
  llc_ans: boolean;
  llc_ans_mask: boolean;
  llc_ans_val: Version;
  llc_ans_put: boolean;  -- a Put with the same bytes is under way
  llc_ans_held: boolean;  -- a copy is still there
  llc_rsp: Response;
  llc_rsp_val: Version;
  llc_done: boolean;

  -- What the HMD knows of the LLC: it may hold lines; the line of X, and others, are in G; the Put of X is stale.
  in_llc: boolean;
  llc_granted: boolean;
  beside: boolean;
  llc_stale: boolean;

@end
@if boundary
  boundary: boolean;

@end
  -- Ghosts. latest: the last version of X. open: X is n-stored here and not yet made visible to all. low: no load may
  -- return less: the SMD's own last store, what it has read, and what was visible to all at some time.
  latest: Version;
  open: array [Smd] of boolean;
  low: array [Smd] of Version;
  llc_low: Version;

------------------------------------------------------------------------------------------------------------- helpers

function Some(m: Mask): boolean; begin
  return exists g: Granule do m[g] end;
end;

function Dirty(s: State): boolean; begin
  return s = N | s = M | s = O;
end;

-- A copy that is being published is not read, and may be gone when the acknowledgement comes.
function Holds(i: Smd): boolean; begin
  return st[i] != I & ph[i] != P;
end;

function PutComes(i: Smd): boolean; begin
  return req[i] = PutBack | req[i] = Publish;
end;

-- As far as the HMD knows.
function LlcHolds(): boolean; begin
@if llc
  return in_llc;
@else
  return false;
@end
end;

function Running(): boolean; begin
@if boundary
  return !boundary;
@else
  return true;
@end
end;

function Probing(): boolean; begin
@if llc
  if llc_prb != NoProbe | llc_ans then return true; end;
@end
  return exists i: Smd do prb[i] != NoProbe | ans[i] end;
end;

-- For what is about the whole block: no line of the LLC is in G.
function Idle(): boolean; begin
@if llc
  return serving = Nothing & !llc_granted & !beside;
@else
  return serving = Nothing;
@end
end;

function Data(r: Response): boolean; begin
  return r = DataS | r = DataE | r = DataX;
end;

function OtherSharers(i: Smd): boolean; begin
  return exists j: Smd do j != i & sharer[j] end;
end;

-- When nothing older than New is left, all of it may be called Old.
procedure Settle(); begin
  if latest = New & mem = New & llc_low = New then
    if
@if llc
      (llc != I -> llc_val = New) & (llc_put_mask -> llc_put_val = New) & (llc_ans_mask -> llc_ans_val = New) &
      (Data(llc_rsp) -> llc_rsp_val = New) &
@end
      forall i: Smd do
        low[i] = New & (st[i] != I -> val[i] = New) &
        (ph[i] = P & put_mask[i][X] -> put_val[i] = New) &
        (ans[i] & ans_mask[i][X] -> ans_val[i] = New) &
@if peer
        (peer[i] -> peer_val[i] = New) &
@end
        (Data(rsp[i]) -> rsp_val[i] = New)
      end
    then
      latest := Old;
      mem := Old;
      llc_low := Old;
@if llc
      if llc != I then llc_val := Old; end;
      if llc_put_mask then llc_put_val := Old; end;
      if llc_ans_mask then llc_ans_val := Old; end;
      if Data(llc_rsp) then llc_rsp_val := Old; end;
@end
      for i: Smd do
        low[i] := Old;
        if st[i] != I then val[i] := Old; end;
        if ph[i] = P & put_mask[i][X] then put_val[i] := Old; end;
        if ans[i] & ans_mask[i][X] then ans_val[i] := Old; end;
@if peer
        if peer[i] then peer_val[i] := Old; end;
@end
        if Data(rsp[i]) then rsp_val[i] := Old; end;
      end;
    end;
  end;
end;

-- Every store so far is visible to all: an exclusive grant, or a kernel boundary.
procedure Visible(); begin
  for i: Smd do
    open[i] := false;
    low[i] := latest;
  end;
  llc_low := latest;
end;

------------------------------------------------------------------------------------------------------------ messages

procedure SendRequest(i: Smd; r: Request); begin
  assert "channels: two requests under way" req[i] = NoRequest;
  req[i] := r;
end;

procedure SendProbe(i: Smd; p: Probe); begin
  assert "channels: two probes under way" prb[i] = NoProbe & !ans[i];
  prb[i] := p;
end;

procedure Respond(i: Smd; r: Response); begin
  assert "channels: two responses under way" rsp[i] = NoResponse;
  rsp[i] := r;
  if Data(r) then rsp_val[i] := mem; end;
end;

procedure Answer(i: Smd; var m: Mask; var v: Version); begin
  ans[i] := true;
  ans_st[i] := st[i];
  ans_mask[i] := m;
  if m[X] then ans_val[i] := v; end;
  ans_sent[i] := false;
end;

procedure Acknowledge(i: Smd);
var nothing: Mask;
begin
  clear nothing;
  Answer(i, nothing, mem);
end;

------------------------------------------------------------------------------------------------------------- the SMD

procedure Drop(i: Smd); begin
  st[i] := I;
  clear mask[i];
  undefine val[i];
end;

-- A write is performed in the state that it leads to. It may be the one from which on versions are New.
procedure Perform(i: Smd; g: Granule; turn: boolean); begin
  mask[i][g] := true;
  if g = X then
    if turn then latest := New; end;
    val[i] := latest;
    low[i] := latest;
    if st[i] = M then Visible(); else open[i] := true; end;
  end;
end;

-- Programs without races on X.
function MayNStore(i: Smd; g: Granule): boolean; begin
  return g = X -> forall j: Smd do j != i -> !open[j] end;
end;

function MayTurn(g: Granule; turn: boolean): boolean; begin
  return turn -> g = X & latest = Old;
end;

procedure Ask(i: Smd; a: Access; r: Request); begin
  want[i] := a;
  ph[i] := W;
  SendRequest(i, r);
end;

procedure Fill(i: Smd); begin
  ph[i] := Q;
  undefine want[i];
  done[i] := true;
end;

procedure ToPutBuffer(i: Smd; r: Request); begin
  ph[i] := P;
  put_mask[i] := mask[i];
  if mask[i][X] then put_val[i] := val[i]; end;
  spent[i] := false;
  publishing[i] := r = Publish;
  clear mask[i];
  SendRequest(i, r);
end;

procedure Acknowledged(i: Smd); begin
  ph[i] := Q;
  undefine put_val[i];
  clear put_mask[i];
  spent[i] := false;
  publishing[i] := false;
end;

ruleset i: Smd do
  -- A load that hits changes nothing but a ghost.
  rule "LoadHit"
    ph[i] = Q & st[i] != I & val[i] > low[i]
  ==>
    low[i] := New;
    Settle();
  end;

  rule "LoadMiss"
    Running() & ph[i] = Q & st[i] = I
  ==>
    Ask(i, Load, Read);
  end;

  rule "NStoreMiss"
    Running() & ph[i] = Q & st[i] = I
  ==>
    Ask(i, NStore, Read);
  end;

  rule "StoreMiss"
    Running() & ph[i] = Q & st[i] != M & st[i] != E
  ==>
    Ask(i, Store, Write);
  end;

  rule "EvictSilently"
    ph[i] = Q & (st[i] = E | st[i] = S)
  ==>
    Drop(i);
    Settle();
  end;

  rule "EvictPut"
    ph[i] = Q & Dirty(st[i])
  ==>
    ToPutBuffer(i, PutBack);
    Drop(i);
    Settle();
  end;
end;

ruleset i: Smd; g: Granule; turn: boolean do
  rule "NStoreHit"
    Running() & ph[i] = Q & st[i] != I & MayNStore(i, g) & MayTurn(g, turn)
  ==>
    if st[i] = E | st[i] = S then st[i] := N; end;
    Perform(i, g, turn);
    Settle();
  end;

  rule "StoreHit"
    Running() & ph[i] = Q & (st[i] = M | st[i] = E) & MayTurn(g, turn)
  ==>
    st[i] := M;
    Perform(i, g, turn);
    Settle();
  end;

  rule "FillNStore"
    (rsp[i] = DataS | rsp[i] = DataE) & want[i] = NStore & MayNStore(i, g) & MayTurn(g, turn)
  ==>
    val[i] := rsp_val[i];
    rsp[i] := NoResponse;
    undefine rsp_val[i];
    st[i] := N;
    Perform(i, g, turn);
    Fill(i);
    Settle();
  end;

  rule "FillStore"
    rsp[i] = DataX & MayTurn(g, turn)
  ==>
    if !mask[i][X] then val[i] := rsp_val[i]; end;
    rsp[i] := NoResponse;
    undefine rsp_val[i];
    st[i] := M;
    Perform(i, g, turn);
    Fill(i);
    Settle();
  end;

@if peer
  rule "PeerNStore"
    peer[i] & want[i] = NStore & MayNStore(i, g) & MayTurn(g, turn)
  ==>
    val[i] := peer_val[i];
    peer[i] := false;
    undefine peer_val[i];
    st[i] := N;
    Perform(i, g, turn);
    Fill(i);
    Settle();
  end;

@end
end;

ruleset i: Smd do
  rule "FillLoad"
    (rsp[i] = DataS | rsp[i] = DataE) & want[i] = Load
  ==>
    st[i] := rsp[i] = DataE ? E : S;
    val[i] := rsp_val[i];
    rsp[i] := NoResponse;
    undefine rsp_val[i];
    Fill(i);
    Settle();
  end;

@if peer
  rule "PeerLoad"
    peer[i] & want[i] = Load
  ==>
    st[i] := S;
    val[i] := peer_val[i];
    peer[i] := false;
    undefine peer_val[i];
    Fill(i);
    Settle();
  end;

@end
  rule "ReceivePutAck"
    rsp[i] = PutAck | rsp[i] = Gone
  ==>
    rsp[i] := NoResponse;
    if st[i] != I then Drop(i); end;
    Acknowledged(i);
    Settle();
  end;

  -- E, unless a probe has overtaken it and taken the copy.
  rule "ReceiveKeep"
    rsp[i] = Keep
  ==>
    rsp[i] := NoResponse;
    if !spent[i] then st[i] := E; end;
    Acknowledged(i);
    Settle();
  end;
end;

-- The table's row for a read request. What has changed goes home.
procedure MeetRead(i: Smd); begin
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
    Acknowledge(i);
  end;
end;

procedure MeetPutBuffer(i: Smd); begin
  if st[i] != I then Drop(i); end;
  if spent[i] then Acknowledge(i); else Answer(i, put_mask[i], put_val[i]); end;
  spent[i] := true;
end;

procedure MeetInv(i: Smd); begin
  Answer(i, mask[i], val[i]);
  Drop(i);
  ans_st[i] := I;
end;

ruleset i: Smd do
  rule "ReceiveProbeRead"
    prb[i] = ProbeRead
  ==>
    prb[i] := NoProbe;
    if ph[i] = P then MeetPutBuffer(i); else MeetRead(i); end;
    Settle();
  end;

  rule "ReceiveProbeInv"
    prb[i] = ProbeInv
  ==>
    prb[i] := NoProbe;
    if ph[i] = P then MeetPutBuffer(i); else MeetInv(i); end;
    Settle();
  end;

@if peer
  rule "ReceiveFwdRead"
    prb[i] = FwdRead
  ==>
    prb[i] := NoProbe;
    if ph[i] = P then
      MeetPutBuffer(i);
    elsif st[i] = N | st[i] = I then
      MeetRead(i);
    else
      assert "channels: two PeerData under way" !peer[asker];
      peer[asker] := true;
      peer_val[asker] := val[i];
      MeetRead(i);
      ans_sent[i] := true;
    end;
    Settle();
  end;

@end
end;

------------------------------------------------------------------------------------------------------------- the HMD

-- Bytes under the mask are written; who else holds the block does not have them.
procedure Merge(i: Smd; var m: Mask; var v: Version); begin
  if m[X] then mem := v; end;
  if Some(m) & (OtherSharers(i) | LlcHolds()) then mark := true; end;
end;

procedure Forget(i: Smd); begin
  sharer[i] := false;
  owner[i] := false;
end;

procedure Serve(what: Serving); begin
  serving := what;
end;

procedure Finish(); begin
  serving := Nothing;
  granted := false;
  finished := false;
  others := false;
  undefine asker;
end;

procedure Grant(r: Response); begin
  Respond(asker, r);
  granted := true;
end;

-- Nobody else holds the block, and all that was changed is in memory or under the mask of the one who gets it.
procedure Exclusive(); begin
  mark := false;
@if V2
  assert "V2 a store is lost at an exclusive grant"
    mem = latest | (!isundefined(asker) & mask[asker][X] & val[asker] = latest);
@end
  Visible();
end;

procedure GrantRead(); begin
  sharer[asker] := true;
  if !OtherSharers(asker) & !LlcHolds() then
    owner[asker] := true;
    Exclusive();
    Grant(DataE);
  else
    owner[asker] := false;
    Grant(DataS);
  end;
end;

procedure GrantWrite(); begin
  for i: Smd do
    sharer[i] := i = asker;
    owner[i] := i = asker;
  end;
  Exclusive();
  Grant(DataX);
end;

procedure EndPublish(); begin
  for i: Smd do
    sharer[i] := i = asker & !others;
    owner[i] := i = asker & !others;
  end;
  Exclusive();
  Respond(asker, others ? Gone : Keep);
  Finish();
end;

@if boundary
procedure EndBoundary(); begin
  boundary := false;
  Visible();
@if V3
  for i: Smd do
    assert "V3 after a boundary a copy is not the latest version" st[i] != I -> val[i] = latest;
    assert "V3 after a boundary bytes are not published" st[i] = N | st[i] = O -> !Some(mask[i]);
  end;
@if llc
  assert "V3 after a boundary the LLC's copy is not the latest version" llc != I & llc_ph = Q -> llc_val = latest;
@end
  assert "V3 after a boundary the latest version is lost" mem = latest | exists i: Smd do st[i] = M & val[i] = latest end
@if llc
    | (llc_mask & llc_val = latest) | (llc_put_mask & !llc_spent & llc_put_val = latest)
@end
    ;
@end
  end;

@end
@if llc
procedure GrantLlc(r: Response); begin
  assert "channels: two responses under way" llc_rsp = NoResponse;
  llc_rsp := r;
  llc_rsp_val := mem;
  llc_granted := true;
  in_llc := true;
  Finish();
end;

procedure GrantLlcRead(); begin
  if others then
    GrantLlc(DataS);
  else
    Exclusive();
    GrantLlc(DataE);
  end;
end;

procedure GrantLlcWrite(); begin
  for i: Smd do Forget(i); end;
  Exclusive();
  GrantLlc(DataX);
end;

@end
procedure Complete(); begin
  switch serving
    case SmdRead: if !granted then GrantRead(); end;
    case SmdWrite: GrantWrite();
    case SmdPublish: EndPublish();
@if llc
    case LlcRead: GrantLlcRead();
    case LlcWrite: GrantLlcWrite();
@end
@if boundary
    case Marks:
      for i: Smd do Forget(i); end;
      mark := false;
      Finish();
      EndBoundary();
@end
  end;
end;

procedure ProbeOthers(all: boolean); begin
  for i: Smd do
    if sharer[i] then
      if all then SendProbe(i, ProbeInv); elsif i != asker then SendProbe(i, ProbeInv); end;
    end;
  end;
end;

@if llc
procedure ProbeLlc(p: Probe); begin
  if in_llc then
    assert "channels: two probes under way" llc_prb = NoProbe & !llc_ans;
    llc_prb := p;
  end;
end;

@end
procedure BeginSmdRead(i: Smd); begin
  req[i] := NoRequest;
  Serve(SmdRead);
  asker := i;
@if llc
  -- Beside other holders the LLC has nothing in E, and no changed bytes.
  if !OtherSharers(i) then ProbeLlc(ProbeRead); end;
@end
end;

ruleset i: Smd do
  rule "HomeRead"
    Idle() & req[i] = Read
@if any_sharer
    & (mark | !OtherSharers(i))
@end
  ==>
    BeginSmdRead(i);
    for o: Smd do
      if o != i & owner[o] then
@if peer
        if mark then SendProbe(o, ProbeRead); else SendProbe(o, FwdRead); end;
@else
        SendProbe(o, ProbeRead);
@end
      end;
    end;
    if !Probing() then Complete(); end;
    Settle();
  end;

  rule "HomeWrite"
    Idle() & req[i] = Write
  ==>
    req[i] := NoRequest;
    Serve(SmdWrite);
    asker := i;
@if llc
    ProbeLlc(ProbeInv);
@end
    ProbeOthers(false);
    if !Probing() then Complete(); end;
    Settle();
  end;

  rule "HomePut"
    Idle() & req[i] = PutBack
  ==>
    req[i] := NoRequest;
    if sharer[i] then
      Merge(i, put_mask[i], put_val[i]);
      Forget(i);
@if I6
      assert "I6 bytes are merged twice" !spent[i] | !Some(put_mask[i]);
    else
      assert "I6 bytes of a stale Put are lost" spent[i] | !Some(put_mask[i]);
@end
    end;
    Respond(i, PutAck);
    Settle();
  end;
end;

@if any_sharer
-- The owner if there is one, else any sharer.
ruleset i: Smd; o: Smd do
  rule "HomeReadAnySharer"
    Idle() & req[i] = Read & !mark & o != i & sharer[o] & forall p: Smd do owner[p] -> p = o | p = i end
  ==>
    BeginSmdRead(i);
    SendProbe(o, FwdRead);
    Settle();
  end;
end;

@end
-- A child that was I, and had nothing to give, may be forgotten or not. One that gave its put buffer must be.
ruleset i: Smd; forget: boolean do
  rule "ReceiveAnswer"
    ans[i] & (forget -> ans_st[i] = I) & (ans_st[i] = I & Some(ans_mask[i]) -> forget)
  ==>
    assert "channels: nobody waits for an answer" serving != Nothing;
    Merge(i, ans_mask[i], ans_val[i]);
    if forget then Forget(i); end;
    owner[i] := ans_st[i] = O;
    ans[i] := false;
    if ans_sent[i] then
      sharer[asker] := true;
      owner[asker] := false;
      granted := true;
    end;
    undefine ans_st[i];
    undefine ans_val[i];
    undefine ans_sent[i];
    clear ans_mask[i];
    if !Probing() then
      if finished then Finish(); else Complete(); end;
    end;
    Settle();
  end;
end;

ruleset i: Smd do
  rule "ReceiveDone"
    done[i]
  ==>
    done[i] := false;
    if granted then Finish(); else finished := true; end;
    Settle();
  end;
end;

@if llc
------------------------------------------------------------------------------------------------------------- the LLC

procedure LlcRequest(r: Request); begin
  assert "channels: two requests under way" llc_req = NoRequest;
  llc_req := r;
end;

procedure LlcDrop(); begin
  llc := I;
  llc_mask := false;
  undefine llc_val;
end;

rule "LlcLoadHit"
  llc_ph = Q & llc != I & llc_val > llc_low
==>
  llc_low := New;
  Settle();
end;

rule "LlcLoadMiss"
  llc_ph = Q & llc = I
==>
  llc_ph := W;
  llc_want := Load;
  LlcRequest(Read);
end;

-- Also of no bytes.
rule "LlcStoreMiss"
  llc_ph = Q & llc != M & llc != E
==>
  llc_ph := W;
  llc_want := Store;
  LlcRequest(Write);
end;

procedure LlcPerform(turn: boolean); begin
  if turn then latest := New; end;
  llc_val := latest;
  llc_mask := true;
  Visible();
end;

rule "LlcStoreOfNoBytesHit"
  llc_ph = Q & llc = E
==>
  llc := M;
end;

ruleset turn: boolean do
  rule "LlcStoreHit"
    llc_ph = Q & (llc = E | llc = M) & MayTurn(X, turn)
  ==>
    llc := M;
    LlcPerform(turn);
    Settle();
  end;
end;

procedure LlcFill(); begin
  llc_rsp := NoResponse;
  undefine llc_rsp_val;
  undefine llc_want;
  llc_ph := Q;
  llc_done := true;
end;

rule "LlcFillLoad"
  llc_rsp = DataS | llc_rsp = DataE
==>
  llc := llc_rsp = DataE ? E : S;
  llc_val := llc_rsp_val;
  LlcFill();
  Settle();
end;

ruleset bytes: boolean; turn: boolean do
  rule "LlcFillStore"
    llc_rsp = DataX & MayTurn(X, turn) & (turn -> bytes)
  ==>
    llc := M;
    if !llc_mask then llc_val := llc_rsp_val; end;
    LlcFill();
    if bytes then LlcPerform(turn); end;
    Settle();
  end;
end;

-- What has not changed may leave silently, but in O.
ruleset silently: boolean do
  rule "LlcEvict"
    llc_ph = Q & llc != I & (silently ? !llc_mask & llc != O : Dirty(llc))
  ==>
    if !silently then
      llc_ph := P;
      llc_put_mask := llc_mask;
      if llc_mask then llc_put_val := llc_val; end;
      llc_spent := false;
      LlcRequest(PutBack);
    end;
    LlcDrop();
    Settle();
  end;
end;

rule "LlcReceivePutAck"
  llc_rsp = PutAck
==>
  llc_rsp := NoResponse;
  llc_ph := Q;
  llc_put_mask := false;
  llc_spent := false;
  undefine llc_put_val;
  Settle();
end;

-- A probe does not overtake the acknowledgement of a Put.
rule "LlcReceiveProbe"
  llc_prb != NoProbe & llc_rsp != PutAck
==>
  llc_ans := true;
  llc_ans_put := llc_ph = P;
  if llc_ph = P then
    llc_ans_mask := llc_put_mask & !llc_spent;
    if llc_ans_mask then llc_ans_val := llc_put_val; end;
    llc_spent := true;
  else
    llc_ans_mask := llc_mask;
    if llc_mask then llc_ans_val := llc_val; end;
    llc_mask := false;
    if llc_prb = ProbeInv then
      LlcDrop();
    elsif llc = M then
@if shared
      llc := S;
@else
      llc := O;
@end
@if invalidate
    elsif llc = O then
      LlcDrop();
@end
@if shared
    elsif llc = O then
      llc := S;
@end
    elsif llc = E then
      llc := S;
    end;
  end;
  llc_ans_held := llc != I;
  llc_prb := NoProbe;
  Settle();
end;

-- Other lines of the block are in the LLC as well, or not.
ruleset others_left: boolean do
  rule "HomeReceiveLlcAnswer"
    llc_ans & (others_left -> serving = SmdRead)
  ==>
    if llc_ans_mask then mem := llc_ans_val; end;
    if llc_ans_put then llc_stale := true; end;
    if !llc_ans_held & !others_left then in_llc := false; end;
    llc_ans := false;
    llc_ans_mask := false;
    llc_ans_put := false;
    llc_ans_held := false;
    undefine llc_ans_val;
    if !Probing() then Complete(); end;
    Settle();
  end;
end;

rule "HomeLlcDone"
  llc_done
==>
  llc_done := false;
  llc_granted := false;
end;

-- Lines that nobody is probed for are granted beside lines in G.
function MayGrantBeside(): boolean; begin
  return serving = Nothing & (beside -> forall i: Smd do !owner[i] end);
end;

rule "HomeLlcRead"
  MayGrantBeside() & !llc_granted & llc_req = Read
==>
  llc_req := NoRequest;
  serving := LlcRead;
  -- Of a marked block the LLC may have other lines that are old: a silent store must not hide that.
  others := mark | exists i: Smd do sharer[i] end;
  for o: Smd do
    if owner[o] then SendProbe(o, ProbeRead); end;
  end;
  if !Probing() then Complete(); end;
  Settle();
end;

rule "HomeLlcWrite"
  serving = Nothing & !llc_granted & llc_req = Write &
  (beside -> !mark & forall i: Smd do !sharer[i] end)
==>
  llc_req := NoRequest;
  serving := LlcWrite;
  ProbeOthers(true);
  if !Probing() then Complete(); end;
  Settle();
end;

rule "HomeLlcPut"
  serving = Nothing & !llc_granted & llc_req = PutBack
==>
  llc_req := NoRequest;
  if !llc_stale then
@if I6
    assert "I6 bytes are merged twice" !llc_spent | !llc_put_mask;
    assert "I6 the LLC has changed bytes beside a sharer" llc_put_mask -> forall i: Smd do !sharer[i] end;
@end
    if llc_put_mask then mem := llc_put_val; end;
@if I6
  else
    assert "I6 bytes of a stale Put are lost" llc_spent | !llc_put_mask;
@end
  end;
  llc_stale := false;
  assert "channels: two responses under way" llc_rsp = NoResponse;
  llc_rsp := PutAck;
  Settle();
end;

rule "HomeGrantsAnotherLine"
  serving = Nothing & !beside & forall i: Smd do !owner[i] end
==>
  in_llc := true;
  beside := true;
end;

rule "HomeAnotherLineDone"
  beside
==>
  beside := false;
end;

@end
@if boundary
------------------------------------------------------------------------------------------------------- the boundary

-- The last workgroup has finished. Evictions and the CPU go on.
rule "BeginBoundary"
  !boundary & forall i: Smd do ph[i] != W end
==>
  boundary := true;
end;

function MustPublish(i: Smd): boolean; begin
  return st[i] = N | (st[i] = O & Some(mask[i]));
end;

ruleset i: Smd do
  rule "SendPublish"
    boundary & ph[i] = Q & MustPublish(i)
  ==>
    ToPutBuffer(i, Publish);
    Settle();
  end;

  rule "HomePublish"
    Idle() & req[i] = Publish
  ==>
    req[i] := NoRequest;
    if sharer[i] then
      Serve(SmdPublish);
      asker := i;
      others := OtherSharers(i) | mark;
      Merge(i, put_mask[i], put_val[i]);
@if llc
      ProbeLlc(ProbeInv);
@end
      ProbeOthers(false);
      if !Probing() then Complete(); end;
    else
@if I6
      assert "I6 bytes of a stale Publish are lost" spent[i] | !Some(put_mask[i]);
@end
      Respond(i, Gone);
    end;
    Settle();
  end;
end;

-- All acknowledgements are in, of Puts too. Holders of a marked block lose it.
rule "EndBoundary"
  boundary & Idle() & forall i: Smd do ph[i] = Q & !MustPublish(i) end
==>
  if mark then
    Serve(Marks);
@if llc
    ProbeLlc(ProbeInv);
@end
    ProbeOthers(true);
    if !Probing() then Complete(); end;
  else
    EndBoundary();
  end;
  Settle();
end;

@end
----------------------------------------------------------------------------------------------------- the properties

startstate
  clear sharer; clear owner; clear mask; clear put_mask; clear ans; clear ans_mask; clear done; clear spent;
  clear publishing; clear open; clear low;
  mem := Old;
  mark := false;
  serving := Nothing;
  granted := false;
  finished := false;
  others := false;
@if llc
  clear llc_mask; clear llc_put_mask; clear llc_spent; clear llc_ans; clear llc_ans_mask; clear llc_ans_put;
  clear llc_ans_held; clear llc_done; clear in_llc; clear llc_granted; clear beside; clear llc_stale;
  llc := I;
  llc_ph := Q;
  llc_req := NoRequest;
  llc_prb := NoProbe;
  llc_rsp := NoResponse;
@end
@if boundary
  boundary := false;
@end
  latest := Old;
  llc_low := Old;
  for i: Smd do
    st[i] := I;
    ph[i] := Q;
    req[i] := NoRequest;
    prb[i] := NoProbe;
    rsp[i] := NoResponse;
@if peer
    peer[i] := false;
@end
  end;
end;

@if I1
invariant "I1 a copy in M or E is not the only one"
  forall i: Smd do st[i] = M | st[i] = E -> forall j: Smd do j != i -> !Holds(j) end end;

@if llc
invariant "I1 the LLC holds a line of a block in M or E"
  llc != I -> in_llc & forall i: Smd do st[i] != M & st[i] != E end;

invariant "I1 the LLC's copy in M or E is not the only one"
  llc = M | llc = E -> forall i: Smd do !Holds(i) end;

@end
@end
@if I2
invariant "I2 a copy in M or E whose SMD is not the owner, or not the only sharer"
  forall i: Smd do st[i] = M | st[i] = E -> owner[i] & !OtherSharers(i) end;

@end
@if I3
invariant "I3 a copy is not known to the HMD"
  forall i: Smd do
    (Holds(i) & st[i] = O -> owner[i]) & (Holds(i) & !sharer[i] -> serving = SmdRead & asker = i) end;

invariant "I3 two owners, or one that is no sharer"
  forall i: Smd do owner[i] -> sharer[i] & forall j: Smd do j != i -> !owner[j] end end;

@end
@if I4
invariant "I4 a mask in E, S or I"
  forall i: Smd do Some(mask[i]) -> Dirty(st[i]) end;

@if llc
invariant "I4 the LLC has changed bytes, and not in M"
  llc_mask -> llc = M;

@end

@end
@if I5
invariant "I5 an old version may be merged over a newer one"
  latest = New -> forall i: Smd do
    (mask[i][X] -> val[i] = New) &
    (PutComes(i) & (sharer[i] | !spent[i]) & put_mask[i][X] -> put_val[i] = New) &
    (mem = New & ans[i] & ans_mask[i][X] -> ans_val[i] = New) end;

@if llc
invariant "I5 an old version of the LLC may be merged over a newer one"
  latest = New & mem = New ->
    (llc_mask -> llc_val = New) & (llc_ans & llc_ans_mask -> llc_ans_val = New) &
    (llc_req = PutBack & !llc_stale & llc_put_mask -> llc_put_val = New);

@end
@end
@if V1
invariant "V1 a load returns a version that its SMD knows to be old"
  forall i: Smd do ph[i] = Q & st[i] != I -> val[i] >= low[i] end;

@if llc
invariant "V1 a load of the CPU returns a version that it knows to be old"
  llc_ph = Q & llc != I -> llc_val >= llc_low;

@end
@end
@if V2
invariant "V2 a store is lost"
  latest = New -> mem = New |
@if llc
    (llc_mask & llc_val = New) | (llc_ans & llc_ans_mask & llc_ans_val = New) |
    (llc_req = PutBack & !llc_spent & llc_put_mask & llc_put_val = New) |
@end
    exists i: Smd do
      (mask[i][X] & val[i] = New) | (ans[i] & ans_mask[i][X] & ans_val[i] = New) |
      (PutComes(i) & !spent[i] & put_mask[i][X] & put_val[i] = New) end;

@end
@if L1
liveness "L1 not everything can come to an end"
@if llc
  llc_ph = Q & Idle() &
@end
  serving = Nothing & Running() & forall i: Smd do ph[i] = Q & !done[i] end;

@end
