import { Mail, type MailExtras } from '../mailbox/mail.ts';
import type { PathHop } from '../protocol/envelope.ts';
import { invalidEnvelope, isOrreryError, type OrreryError, reasonOf } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import { askName } from '../mailbox/ask-name.ts';
import {
  type BatchSink,
  FLAT_MAIL,
  FLAT_REPLY,
  OWN_ID,
  STRUCTURED,
  TAINTED,
  UNDEFINED,
} from './batch-format.ts';
import { REPLY } from '../mailbox/reply.ts';
import { entry } from './column.ts';
import { type NamedContext, ReceivedNames } from './link-names.ts';

/** A small number, or the text it stands for. */
type Named = number | string;
type Added = readonly [readonly string[], readonly NamedContext[]];

/** The receiving side of a link's codec. */
export class BatchReader {
  readonly #names = new ReceivedNames();

  /**
   * Decodes one post and tells `sink` what it says. Returns how many mails and replies it held. Throws INVALID_ENVELOPE for
   * what is no batch.
   */
  read(data: unknown, sink: BatchSink): number {
    try {
      if (typeof data === 'string') return this.#readBody(JSON.parse(data) as unknown[], [], [], sink);
      const [json, clones, slabs] = data as [string, unknown[], [number, SharedArrayBuffer][]];
      return this.#readBody(JSON.parse(json) as unknown[], clones, slabs, sink);
    } catch (error) {
      throw isOrreryError(error) ? error : unreadable(reasonOf(error), error);
    }
  }

  #readBody(
    body: unknown[],
    clones: readonly unknown[],
    slabs: readonly [number, SharedArrayBuffer][],
    sink: BatchSink,
  ): number {
    sink.header(body[1] as number, body[2] as number);
    if (body[0] === FLAT_REPLY) {
      const ask = askName(body[3] as number, body[4] as number);
      answer(ask, body[5] as number, body[6], clones, sink);
      return 1;
    }
    if (body[0] === FLAT_MAIL) {
      if (body[19] !== undefined && body[19] !== 0) this.#names.add(body[19] as Added);
      this.#flatMail(body, clones, sink);
      return 1;
    }
    if (body[3] !== 0) this.#names.add(body[3] as Added);
    if (body[4] !== 0) introduceAll(body[4] as number[][], slabs, sink);
    let count = 0;
    if (body[5] !== 0) count += this.#mails(body[5] as unknown[], body[9] as unknown[], clones, sink);
    if (body[6] !== 0) count += replies(body[6] as unknown[], clones, sink);
    if (body[7] !== 0) for (const id of body[7] as string[]) sink.cancel(id);
    if (body[8] !== 0) {
      const pulls = body[8] as number[];
      for (let at = 0; at < pulls.length; at += 2) sink.pull(pulls[at] as number, pulls[at + 1] as number);
    }
    return count;
  }

  #flatMail(body: unknown[], clones: readonly unknown[], sink: BatchSink): void {
    const timestamp = body[12] as number;
    const mail = this.#mail(
      body[4] as number,
      body[5] as Named,
      body[6] as Named,
      body[7] as Named,
      body[8] as Named,
      body[9] as number,
      body[10] as Named,
      body[11] as PathHop[] | 0,
      timestamp,
      deadlineFrom(timestamp, body[13] as Named),
      body[14] as Named,
      askName(body[15] as number, body[16] as number),
      body[17],
      body.length > 21 ? body[21] : body[18],
      clones,
    );
    if (body[20] !== undefined) mail.kept = body[20] as number;
    sink.mail(body[3] as number, mail);
  }

  #mails(columns: unknown[], kept: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const fromMs = columns[0] as number;
    const runs = columns[2] as number[];
    const payloads = columns[18] === 0 ? kept : (columns[18] as unknown[]);
    let number = 0;
    let serial = columns[1] as number;
    let at = 0;
    for (let head = 0; head < runs.length; head++) {
      const length = runs[head] as number;
      if (!(length <= payloads.length - at)) throw unreadable('a run is longer than its payloads');
      const type = entry(columns[3], head) as number;
      const origin = entry(columns[4], head) as Named;
      const sender = entry(columns[5], head) as Named;
      const context = entry(columns[6], head) as number;
      const correlation = entry(columns[7], head) as Named;
      const path = entry(columns[8], head) as PathHop[] | 0;
      const deadlineAtMs = deadlineFrom(fromMs, entry(columns[9], head) as Named);
      const capability = entry(columns[10], head) as Named;
      const extras = entry(columns[11], head);
      for (const end = at + length; at < end; at++) {
        const key = entry(columns[14], at) as Named;
        if (typeof key === 'number') serial += key;
        const mail = this.#mail(
          type,
          origin,
          typeof key === 'number' ? serial : key,
          sender,
          entry(columns[13], at) as Named,
          context,
          correlation,
          path,
          after(fromMs, entry(columns[15], at) as Named),
          deadlineAtMs,
          capability,
          askName(entry(columns[16], at) as number, entry(columns[17], at) as number),
          extras,
          payloads[at],
          clones,
        );
        const keptBy = entry(columns[19], at) as number;
        if (keptBy !== 0) mail.kept = number += keptBy;
        sink.mail(entry(columns[12], at) as number, mail);
      }
    }
    return payloads.length;
  }

  #mail(
    type: number,
    origin: Named,
    key: Named,
    sender: Named,
    recipient: Named,
    contextNumber: number,
    correlation: Named,
    path: PathHop[] | 0,
    timestamp: number,
    deadlineAtMs: number,
    capability: Named,
    ask: number,
    extras: unknown,
    payload: unknown,
    clones: readonly unknown[],
  ): Mail {
    const names = this.#names;
    let value = payload;
    let plainType = type;
    if (type >= STRUCTURED) {
      plainType -= STRUCTURED;
      value = clones[payload as number];
    } else if (type >= UNDEFINED) {
      plainType -= UNDEFINED;
      value = undefined;
    }
    const context = contextNumber === 0 ? undefined : names.context(contextNumber);
    const mail = new Mail(
      key,
      names.string(origin) ?? '',
      plainType,
      names.string(sender) as string,
      names.string(recipient) as string,
      typeof correlation === 'string' ? correlation : context?.[1],
      timestamp,
      value,
      names.string(capability),
      deadlineAtMs,
      ask,
      path === 0 ? context?.[2] : path,
      undefined,
    );
    if (correlation === OWN_ID) mail.correlationId = mail.id;
    if (typeof extras === 'object')
      applyExtras(mail, extras as MailExtras & { attempts?: number; tombstone?: never });
    else if (extras !== 0) mail.extras = names.extras(extras as Named);
    return mail;
  }
}

function replies(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
  const payloads = columns[3] as unknown[];
  for (let at = 0; at < payloads.length; at++) {
    const ask = askName(entry(columns[0], at) as number, entry(columns[1], at) as number);
    answer(ask, entry(columns[2], at) as number, payloads[at], clones, sink);
  }
  return payloads.length;
}

function answer(
  ask: number,
  kind: number,
  payload: unknown,
  clones: readonly unknown[],
  sink: BatchSink,
): void {
  if (kind < STRUCTURED) sink.reply(ask, kind, kind === REPLY.empty ? undefined : payload);
  else if (kind < TAINTED) sink.reply(ask, kind - STRUCTURED, clones[payload as number]);
  else {
    const plainKind = kind & ~(TAINTED | STRUCTURED);
    const pair = (kind & STRUCTURED) === 0 ? payload : clones[payload as number];
    const [taint, value] = pair as [Taint, unknown];
    sink.reply(ask, plainKind, plainKind === REPLY.empty ? undefined : value, taint);
  }
}

const unreadable = (reason: string, cause?: unknown): OrreryError =>
  invalidEnvelope(`a batch of another thread: ${reason}`, cause);

const after = (fromMs: number, distance: Named): number =>
  typeof distance === 'string' ? Number(distance) : fromMs + distance;

const deadlineFrom = (timestamp: number, distance: Named): number =>
  distance === 0 ? 0 : after(timestamp, distance);

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
