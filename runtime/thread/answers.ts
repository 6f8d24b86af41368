import type { InFlow } from '../mailbox/in-flow.ts';
import { type Mail, typeIndex, REPLY } from '../mailbox/mail.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { TRAFFIC, type TrafficKind } from '../observe/traffic-ring.ts';
import type { Taint } from '../protocol/taint.ts';
import type { Link } from '../link/link.ts';
import type { ThreadNode } from './thread-node.ts';

/** The message types of the answers, in the order of `TRAFFIC` from `replied` on. */
const ANSWER_TYPES = (['response', 'error', 'stream-data', 'stream-end'] as const).map(typeIndex);

/** Takes answers to whoever asked and, the other way, how much more of a stream is wanted. */
export class Answers {
  readonly #node: ThreadNode;

  constructor(node: ThreadNode) {
    this.#node = node;
  }

  /** Answers the ask behind `mail`; `taint` says where the answer came from outside. */
  give(
    mail: Mail,
    kind: number,
    payload: unknown,
    carries: 'json' | 'structured' | undefined,
    taint?: Taint,
  ): void {
    const node = this.#node;
    const flow = mail.flow as InFlow;
    if (kind !== REPLY.progress) this.#note(mail, kind, payload);
    if (flow.incarnation === -1 || flow.incarnation === node.incarnation) {
      node.asks.answer(mail.ask, kind, payload, taint);
      return;
    }
    const link = node.links.ofIncarnation(flow.incarnation);
    if (link === undefined) return;
    node.outbox.touch(link);
    link.sendReply(mail.ask, kind, payload, carries === 'structured' && kind !== REPLY.error, taint);
  }

  /** Asks for `count` more chunks of a stream; without a link it comes from this thread. */
  pull(ask: number, link: Link | undefined, count: number): void {
    const node = this.#node;
    if (link === undefined) {
      node.windows.find(node.incarnation, ask)?.pull(count);
      return;
    }
    node.outbox.touch(link);
    link.sendPull(ask, count);
  }

  #note(mail: Mail, kind: number, payload: unknown): void {
    const { counters, log, turns } = this.#node;
    let noted: TrafficKind = mail.extras?.stream === true ? TRAFFIC.ended : TRAFFIC.replied;
    if (kind === REPLY.chunk) noted = TRAFFIC.chunk;
    else if (kind === REPLY.error) noted = TRAFFIC.failed;
    if (noted !== TRAFFIC.chunk) counters[COUNT.replies] = (counters[COUNT.replies] as number) + 1;
    const byType = COUNT.sentByType + (ANSWER_TYPES[noted - TRAFFIC.replied] as number);
    counters[byType] = (counters[byType] as number) + 1;
    log.traffic.note(noted, mail, turns.nowMs, payload);
  }
}
