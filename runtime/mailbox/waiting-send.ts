import { Fifo } from './fifo.ts';

/**
 * A send that waits: for room in a mailbox, or for the table that may name its recipient.
 *
 * - `go`       called when it is its turn; sends at once.
 * - `whyLeave` the error with which it stops waiting at this moment; undefined if it waits on.
 * - `fail`     called with that error, or with the one of a system that stops.
 */
export interface WaitingSend {
  readonly go: () => void;
  readonly whyLeave: (nowMs: number) => Error | undefined;
  readonly fail: (error: Error) => void;
}

/** Has a send go whose turn it is; one that waits no longer, which nobody may have looked at yet, fails. */
export function letGo({ go, whyLeave, fail }: WaitingSend, nowMs: number): void {
  const why = whyLeave(nowMs);
  if (why === undefined) go();
  else fail(why);
}

/**
 * Fails the sends that wait no longer. Before that, `keep` is called with the others, in their order: a send that fails may lead
 * to a new one.
 */
export function sendAway(
  sends: Fifo<WaitingSend>,
  nowMs: number,
  keep: (stay: Fifo<WaitingSend>) => void,
): void {
  if (!someoneLeaves(sends, nowMs)) return;
  const stay = new Fifo<WaitingSend>();
  const leave: { send: WaitingSend; why: Error }[] = [];
  for (let at = 0; at < sends.length; at++) {
    const send = sends.at(at) as WaitingSend;
    const why = send.whyLeave(nowMs);
    if (why === undefined) stay.push(send);
    else leave.push({ send, why });
  }
  keep(stay);
  for (const { send, why } of leave) send.fail(why);
}

function someoneLeaves(sends: Fifo<WaitingSend>, nowMs: number): boolean {
  for (let at = 0; at < sends.length; at++) if (sends.at(at)?.whyLeave(nowMs) !== undefined) return true;
  return false;
}
