/** A span of time in words of one unit or two: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 10) return `${(ms / 1_000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** A moment as the time since the start, `0:03.250`, or `1:02:03.250`. */
export function sinceStart(atMs: number, startedAtMs: number): string {
  const ms = Math.max(0, Math.round(atMs - startedAtMs));
  const seconds = Math.floor(ms / 1_000);
  const two = (part: number): string => String(part).padStart(2, '0');
  const tail = `${two(seconds % 60)}.${String(ms % 1_000).padStart(3, '0')}`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}:${tail}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${tail}`;
}
