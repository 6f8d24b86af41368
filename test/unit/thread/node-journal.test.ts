import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type JournalAnswer, readUnit, type UnitMessage } from '../../../runtime/journal/unit-format.ts';
import { newOrderMemory } from '../../../runtime/journal/unit-order.ts';
import type { StoreBatch } from '../../../runtime/protocol/store.ts';
import type { Port } from '../../../runtime/link/port.ts';
import { nodePair, type Settler } from '../../fixtures/node-pair.ts';
import { SILENT_PORT } from '../../fixtures/steered-node.ts';
import { rejection } from '../../fixtures/until.ts';

const number = { input: z.number(), output: z.number() };
const pass = capability({ id: 'pass', description: 'Tells another to book', ...number });
const book = capability({ id: 'book', description: 'Books a number', ...number });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-place-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The journal's end of a place's line, in the hands of the test. */
class SteeredJournal {
  readonly units: StoreBatch[] = [];
  answer: (answer: JournalAnswer) => void = () => undefined;
  /** Its thread ends. */
  end: () => void = () => undefined;
  /** Ids of the calls that wait for an answer. */
  readonly asked: string[] = [];
  reply: (id: string, value: unknown) => void = () => undefined;
  readonly api: Port = {
    ...SILENT_PORT,
    post: (call) => void this.asked.push((call as { message: { id: string } }).message.id),
    onMessage: (listener) => {
      this.reply = (id, value) => listener({ t: 'answer', message: { id, type: 'RAW', value: { value } } });
    },
  };
  readonly line: Port = {
    ...SILENT_PORT,
    post: (message) => void this.units.push(readUnit(message as UnitMessage).batch),
    onMessage: (listener) => {
      this.answer = listener;
    },
    onClose: (listener) => {
      this.end = listener;
    },
  };
}

/** `sender` here tells `books`, which is durable and lives `at`, what it is asked with. */
async function setUp(at: Settler['at']) {
  const booked: number[] = [];
  const base = { version: '1.0.0', description: 'x', tier: 2 } as const;
  const sender = defineAgent({ ...base, id: 'sender', name: 'S' }).handle(pass, (n, ctx) => {
    const { delivered, errorCode } = ctx.tell({ agent: 'books', capability: book }, n);
    if (!delivered) throw new Error(errorCode);
    return n;
  });
  const books = defineAgent({ ...base, id: 'books', name: 'B' }).handle(book, (n) => {
    booked.push(n);
    return n;
  });
  const pair = await nodePair([
    { definition: sender as never, at: 'here' },
    { definition: books as never, at, durable: true },
  ]);
  const journals = { here: new SteeredJournal(), there: new SteeredJournal() };
  const order = newOrderMemory();
  for (const place of ['here', 'there'] as const)
    pair[place].control({
      t: 'journal',
      access: {
        line: journals[place].line,
        api: journals[place].api,
        keepsHistory: false,
        file: join(folder, place),
        order,
      },
    });
  return { ...pair, booked, journal: journals.here, theirs: journals[at] };
}

describe.each(['here', 'there'] as const)('What is sent to a durable agent that lives %s (F-01)', (at) => {
  it('is not begun on, nor is its sender done, before it is kept', async () => {
    const { ask, deliver, booked, journal, close } = await setUp(at);
    let isAnswered = false;
    const asked = ask('sender', pass, 7).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await deliver();
    expect(journal.units.map(({ mails }) => mails.length)).toEqual([1]);
    expect([booked, isAnswered]).toEqual([[], false]);
    journal.answer([41]);
    expect(await asked).toBe(7);
    await deliver();
    expect(booked).toEqual([7]);
    close();
  });

  it('is settled in the journal of whoever handled it, by its number there', async () => {
    const { ask, deliver, journal, theirs, close } = await setUp(at);
    const asked = ask('sender', pass, 7);
    await deliver();
    journal.answer([41]);
    await asked;
    await deliver();
    expect(theirs.units.flatMap(({ settled }) => settled)).toEqual([41]);
    close();
  });

  it('is refused as long as the journal cannot write', async () => {
    const { ask, deliver, journal, close } = await setUp(at);
    journal.answer({ failure: { code: 'STORE_FAILED', message: 'the disk is full' } });
    const refused = rejection(ask('sender', pass, 7));
    await deliver();
    expect(await refused).toMatchObject({ message: expect.stringContaining('STORE_FAILED') });
    expect(journal.units).toEqual([]);
    close();
  });
});

describe('What the journal is asked for (F-02)', () => {
  it('is waited for as long as that takes, and no longer than its thread is there', async () => {
    const { here, clock, deliver, journal, close } = await setUp('here');
    const survey = () => here.host.node.journal?.surveyAgents();
    const slow = survey();
    await deliver();
    // A slow machine reads a large journal for minutes.
    clock.advance(600_000);
    await deliver();
    const [id = ''] = journal.asked;
    journal.reply(id, [{ agentId: 'books' }]);
    expect(await slow).toEqual([{ agentId: 'books' }]);
    const cutOff = rejection(survey() as Promise<unknown>);
    journal.end();
    expect(await cutOff).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('its thread has ended'),
    });
    expect(await rejection(survey() as Promise<unknown>)).toMatchObject({ code: 'STORE_FAILED' });
    close();
  });
});
