-- REC: an entry tracks the lines of a range, each by sharers of its own.
var
  valid: boolean;
  position: array [Line] of boolean;
  sharers: array [Line] of array [Rem] of boolean;

procedure Empty(); begin clear valid; clear position; clear sharers; end;
function HasEntry(l: Line): boolean; begin return valid; end;
function Tracked(l: Line): boolean; begin return position[l]; end;
function Shares(l: Line; r: Rem): boolean; begin return sharers[l][r]; end;
procedure SetShares(l: Line; r: Rem; yes: boolean); begin sharers[l][r] := yes; end;
procedure Track(l: Line); begin valid := true; position[l] := true; end;

-- An entry without a position is freed.
procedure Untrack(l: Line); begin
  clear sharers[l];
  position[l] := false;
  valid := exists k: Line do position[k] end;
end;
