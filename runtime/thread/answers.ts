import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, typeIndex } from '../mailbox/mail.ts';
import { COUNT } from '../observe/seat-counters.ts';
import { TRAFFIC, type TrafficKind } from '../observe/traffic-ring.ts';
import type { Taint } from '../protocol/taint.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { Link } from '../link/link.ts';
import type { Place } from './place.ts';

/** The message types of the answers, in the order of `TRAFFIC` from `replied` on. */
const ANSWER_TYPES = (['response', 'error', 'stream-data', 'stream-end'] as const).map(typeIndex);

/** Takes answers to whoever asked and, the other way, how much more of a stream is wanted. */
export class Answers {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Answers the ask behind `mail`; `taint` says where the answer came from outside. */
  give(
    mail: Mail,
    kind: number,
    payload: unknown,
    carries: 'json' | 'structured' | undefined,
    taint?: Taint,
  ): void {
    const place = this.#place;
    const flow = mail.flow as InFlow;
    if (kind !== REPLY.progress) this.#note(mail, kind, payload);
    if (flow.seat === -1 || flow.seat === place.seat) {
      place.asks.answer(mail.ask, kind, payload, taint);
      return;
    }
    const link = place.links.ofSeat(flow.seat);
    if (link === undefined) return;
    place.outbox.touch(link);
    link.sendReply(mail.ask, kind, payload, carries === 'structured' && kind !== REPLY.error, taint);
  }

  /** Asks for `count` more chunks of a stream; without a link it comes from this thread. */
  pull(ask: number, link: Link | undefined, count: number): void {
    const place = this.#place;
    if (link === undefined) {
      place.windows.find(place.seat, ask)?.pull(count);
      return;
    }
    place.outbox.touch(link);
    link.sendPull(ask, count);
  }

  #note(mail: Mail, kind: number, payload: unknown): void {
    const { counters, log, turns } = this.#place;
    let noted: TrafficKind = mail.extras?.stream === true ? TRAFFIC.ended : TRAFFIC.replied;
    if (kind === REPLY.chunk) noted = TRAFFIC.chunk;
    else if (kind === REPLY.error) noted = TRAFFIC.failed;
    if (noted !== TRAFFIC.chunk) counters[COUNT.replies] = (counters[COUNT.replies] as number) + 1;
    const byType = COUNT.sentByType + (ANSWER_TYPES[noted - TRAFFIC.replied] as number);
    counters[byType] = (counters[byType] as number) + 1;
    log.traffic.note(noted, mail, turns.nowMs, payload);
  }
}
