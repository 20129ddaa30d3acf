-- REC, with the bits of an entry where they lie: position i is bit i * (n + 1) for n GPUs besides the home, and the bits
-- of its sharers follow by their slots. The home is GPU 0, so the slot of GPU r is r - 1.
const
  BITS: LINES * (GPUS + 1);

var
  valid: boolean;
  bits: array [0..BITS - 1] of boolean;

function Position(l: Line): 0..BITS - 1; begin return l * (GPUS + 1); end;
function Sharer(l: Line; r: Rem): 0..BITS - 1; begin return Position(l) + 1 + (r - 1); end;

procedure Empty(); begin clear valid; clear bits; end;
function HasEntry(l: Line): boolean; begin return valid; end;
function Tracked(l: Line): boolean; begin return bits[Position(l)]; end;
function Shares(l: Line; r: Rem): boolean; begin return bits[Sharer(l, r)]; end;
procedure SetShares(l: Line; r: Rem; yes: boolean); begin bits[Sharer(l, r)] := yes; end;
procedure Track(l: Line); begin valid := true; bits[Position(l)] := true; end;

-- An entry without a position is freed.
procedure Untrack(l: Line); begin
  for r: Rem do SetShares(l, r, false); end;
  bits[Position(l)] := false;
  valid := exists k: Line do Tracked(k) end;
end;
