import { Fifo } from './fifo.ts';

/**
 * A send that waits: for room in a mailbox, or for the table that may name its recipient.
 *
 * - `go`       called when it is its turn; sends at once.
 * - `whyLeave` says why it waits no longer, while it does.
 * - `fail`     called with that, or with what the system was stopped with.
 */
export interface WaitingSend {
  readonly go: () => void;
  readonly whyLeave: (nowMs: number) => Error | undefined;
  readonly fail: (error: Error) => void;
}

/**
 * Fails those that wait no longer. `keep` is given the others, in their order, before anybody is failed: whoever fails
 * may send again.
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
