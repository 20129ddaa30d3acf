-- The baseline: an entry tracks one line.
var
  valid: array [Line] of boolean;
  sharers: array [Line] of array [Rem] of boolean;

procedure Empty(); begin clear valid; clear sharers; end;
function HasEntry(l: Line): boolean; begin return valid[l]; end;
function Tracked(l: Line): boolean; begin return valid[l]; end;
function Shares(l: Line; r: Rem): boolean; begin return sharers[l][r]; end;
procedure SetShares(l: Line; r: Rem; yes: boolean); begin sharers[l][r] := yes; end;
procedure Track(l: Line); begin valid[l] := true; end;
procedure Untrack(l: Line); begin clear sharers[l]; valid[l] := false; end;
