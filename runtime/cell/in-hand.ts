import type { Handling } from './handling.ts';

// What one agent has in hand: each knows what was begun before it and after it, so that to take one out costs the same however
// many there are. The agent knows the newest.

/** Takes `handling` in hand, after `newest`; returns which is the newest now. */
export function takeInHand(newest: Handling | undefined, handling: Handling): Handling {
  if (newest !== undefined) newest.after = handling;
  handling.before = newest;
  return handling;
}

/** Takes `handling` out of what is in hand; returns which is the newest now. */
export function takeOutOfHand(newest: Handling | undefined, handling: Handling): Handling | undefined {
  const { before, after } = handling;
  if (before !== undefined) before.after = after;
  if (after !== undefined) after.before = before;
  handling.before = undefined;
  handling.after = undefined;
  return newest === handling ? before : newest;
}

/** All that is in hand, oldest first. */
export function allInHand(newest: Handling | undefined): readonly Handling[] {
  const all: Handling[] = [];
  for (let one = newest; one !== undefined; one = one.before) all.push(one);
  return all.reverse();
}

/** From here on the deadlines of all are watched. Those before a watched one are watched already. */
export function watchInHand(newest: Handling | undefined): void {
  let first = newest;
  while (first?.isWatched === false && first.before?.isWatched === false) first = first.before;
  for (let one = first; one !== undefined; one = one.after) one.watch();
}
