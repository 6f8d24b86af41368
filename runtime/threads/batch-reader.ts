import { Mail, type MailExtras } from '../mailbox/mail.ts';
import type { PathHop } from '../protocol/envelope.ts';
import {
  type BatchSink,
  FLAT_MAIL,
  FLAT_REPLY,
  OWN_ID,
  REPLY,
  SAME,
  STRUCTURED,
  UNDEFINED,
} from './batch-format.ts';

/** The receiving side of a link's codec. */
export class BatchReader {
  readonly #strings: (string | undefined)[] = [undefined];
  readonly #extras: (MailExtras | undefined)[] = [];

  /** Decodes one post and tells `sink` what it says. Returns how many mails and replies it held. */
  read(data: unknown, sink: BatchSink): number {
    if (typeof data === 'string') return this.#readBody(JSON.parse(data) as unknown[], [], [], sink);
    const [json, clones, slabs] = data as [string, unknown[], [number, SharedArrayBuffer][]];
    return this.#readBody(JSON.parse(json) as unknown[], clones, slabs, sink);
  }

  #readBody(
    body: unknown[],
    clones: readonly unknown[],
    slabs: readonly [number, SharedArrayBuffer][],
    sink: BatchSink,
  ): number {
    sink.header(body[1] as number, body[2] as number);
    if (body[0] === FLAT_REPLY) {
      this.#reply(body[3] as number, body[4] as number, body[5], clones, sink);
      return 1;
    }
    if (body[0] === FLAT_MAIL) {
      if (body[17] !== undefined) this.#strings.push(...(body[17] as string[]));
      this.#flatMail(body, clones, sink);
      return 1;
    }
    if (body[3] !== 0) this.#strings.push(...(body[3] as string[]));
    if (body[4] !== 0) introduceAll(body[4] as number[][], slabs, sink);
    let count = 0;
    if (body[5] !== 0) count += this.#mails(body[5] as unknown[], clones, sink);
    if (body[6] !== 0) count += this.#replies(body[6] as unknown[], clones, sink);
    if (body[7] !== 0) for (const id of body[7] as string[]) sink.cancel(id);
    if (body[8] !== 0) {
      const pulls = body[8] as number[];
      for (let at = 0; at < pulls.length; at += 2) sink.pull(pulls[at] as number, pulls[at + 1] as number);
    }
    return count;
  }

  #flatMail(body: unknown[], clones: readonly unknown[], sink: BatchSink): void {
    const timestamp = body[10] as number;
    const deadline = body[11] as number | string;
    sink.mail(
      body[3] as number,
      this.#mail(
        body[5] as number | string,
        body[6] as number | string,
        body[4] as number,
        body[7] as number | string,
        body[8] as number | string,
        body[9] as number | string,
        timestamp,
        deadline === 0 ? 0 : after(timestamp, deadline),
        body[12] as number | string,
        body[13] as number,
        body[14] as PathHop[] | number,
        body[15],
        body[16],
        clones,
        undefined,
      ),
    );
  }

  #mails(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const [from, flows, types, origins, firstSerial, keys, senders, recipients, correlations, times] =
      columns;
    const deadlines = columns[10];
    const capabilities = columns[11];
    const asks = columns[12];
    const paths = columns[13];
    const extras = columns[14];
    const payloads = columns[15] as unknown[];
    let serial = firstSerial as number;
    let before: Mail | undefined;
    for (let at = 0; at < payloads.length; at++) {
      const timestamp = after(from as number, entry(times, at) as number | string);
      const deadline = entry(deadlines, at) as number | string;
      const key = entry(keys, at) as number | string;
      if (typeof key === 'number') serial += key;
      const mail = this.#mail(
        typeof key === 'number' ? serial : key,
        entry(origins, at) as number | string,
        entry(types, at) as number,
        entry(senders, at) as number | string,
        entry(recipients, at) as number | string,
        entry(correlations, at) as number | string,
        timestamp,
        deadline === 0 ? 0 : after(timestamp, deadline),
        entry(capabilities, at) as number | string,
        entry(asks, at) as number,
        entry(paths, at) as PathHop[] | number,
        entry(extras, at),
        payloads[at],
        clones,
        before,
      );
      before = mail;
      sink.mail(entry(flows, at) as number, mail);
    }
    return payloads.length;
  }

  #mail(
    key: number | string,
    origin: number | string,
    type: number,
    sender: number | string,
    recipient: number | string,
    correlation: number | string,
    timestamp: number,
    deadlineAtMs: number,
    capability: number | string,
    ask: number,
    path: PathHop[] | number,
    extras: unknown,
    payload: unknown,
    clones: readonly unknown[],
    before: Mail | undefined,
  ): Mail {
    let value = payload;
    let plainType = type;
    if (type >= STRUCTURED) {
      plainType -= STRUCTURED;
      value = clones[payload as number];
    } else if (type >= UNDEFINED) {
      plainType -= UNDEFINED;
      value = undefined;
    }
    const mail = new Mail(
      key,
      this.#string(origin) ?? '',
      plainType,
      this.#string(sender) as string,
      this.#string(recipient) as string,
      typeof correlation === 'string'
        ? correlation
        : correlation === SAME
          ? before?.correlationId
          : undefined,
      timestamp,
      value,
      this.#string(capability),
      deadlineAtMs,
      ask,
      typeof path !== 'number' ? path : path === SAME ? before?.path : undefined,
      undefined,
    );
    if (correlation === OWN_ID) mail.correlationId = mail.id;
    if (typeof extras === 'object')
      applyExtras(mail, extras as MailExtras & { attempts?: number; tombstone?: never });
    else if (extras !== 0) mail.extras = this.#sharedExtras(extras as number | string);
    return mail;
  }

  #replies(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const asks = columns[0] as number[];
    const payloads = columns[2] as unknown[];
    for (let at = 0; at < asks.length; at++) {
      this.#reply(asks[at] as number, entry(columns[1], at) as number, payloads[at], clones, sink);
    }
    return asks.length;
  }

  #reply(ask: number, kind: number, payload: unknown, clones: readonly unknown[], sink: BatchSink): void {
    if (kind >= STRUCTURED) sink.reply(ask, kind - STRUCTURED, clones[payload as number]);
    else sink.reply(ask, kind, kind === REPLY.empty ? undefined : payload);
  }

  #sharedExtras(index: number | string): MailExtras {
    if (typeof index === 'string') return JSON.parse(index) as MailExtras;
    this.#extras[index] ??= Object.freeze(JSON.parse(this.#strings[index] as string) as MailExtras);
    return this.#extras[index];
  }

  #string(index: number | string): string | undefined {
    return typeof index === 'string' ? index : this.#strings[index];
  }
}

const entry = (column: unknown, at: number): unknown => (Array.isArray(column) ? column[at] : column);

const after = (fromMs: number, distance: number | string): number =>
  typeof distance === 'string' ? Number(distance) : fromMs + distance;

function introduceAll(
  introductions: readonly number[][],
  slabs: readonly [number, SharedArrayBuffer][],
  sink: BatchSink,
): void {
  for (const [flow, slot, lane, received, slab] of introductions as [
    number,
    number,
    number,
    number,
    number,
  ][]) {
    sink.introduce(flow, slot, lane, received, slabs.find(([index]) => index === slab)?.[1]);
  }
}

function applyExtras(mail: Mail, extras: MailExtras & { attempts?: number; tombstone?: never }): void {
  const { attempts, tombstone, ...rest } = extras;
  mail.attempts = attempts ?? 0;
  mail.tombstone = tombstone;
  mail.extras = Object.keys(rest).length > 0 ? rest : undefined;
}
