-- HMG: an entry tracks a block of lines, all by the same sharers.
var
  valid: boolean;
  sharers: array [Rem] of boolean;

procedure Empty(); begin clear valid; clear sharers; end;
function HasEntry(l: Line): boolean; begin return valid; end;
function Tracked(l: Line): boolean; begin return valid; end;
function Shares(l: Line; r: Rem): boolean; begin return sharers[r]; end;
procedure SetShares(l: Line; r: Rem; yes: boolean); begin sharers[r] := yes; end;
procedure Track(l: Line); begin valid := true; end;
procedure Untrack(l: Line); begin clear sharers; valid := false; end;
