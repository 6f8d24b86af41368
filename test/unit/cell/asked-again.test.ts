import {
  type AgentClient,
  type AgentDefinition,
  capability,
  defineAgent,
  type HandlingContext,
  type Progress,
} from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { Mail, NO_ASK, typeIndex } from '../../../runtime/mailbox/mail.ts';
import { deltaOf } from '../../../runtime/routing/routing-table.ts';
import { SteeredNode } from '../../fixtures/steered-node.ts';
import { rejection, until } from '../../fixtures/until.ts';

const work = capability({ id: 'work', description: 'Works', input: z.string(), output: z.string() });

/** What the worker has in hand, and the end of it, which the test decides. */
let hands: HandlingContext<undefined>[];
let gate: PromiseWithResolvers<string>;
let node: SteeredNode;
let client: AgentClient;
let worker: Cell;

const about = { name: 'NAME', version: '1.0.0', description: 'Works', tier: 2 } as const;
const DEFINITIONS: readonly AgentDefinition<unknown>[] = [
  defineAgent({ id: 'asker', ...about }) as AgentDefinition<unknown>,
  defineAgent({ id: 'worker', ...about }).handle(work, (_what, ctx) => {
    hands.push(ctx);
    return gate.promise;
  }) as AgentDefinition<unknown>,
  defineAgent({ id: 'retrier', ...about, delivery: 'retry' }).handle(work, (_what, ctx) => {
    hands.push(ctx);
    return gate.promise;
  }) as AgentDefinition<unknown>,
];

beforeEach(async () => {
  hands = [];
  gate = Promise.withResolvers();
  node = new SteeredNode({ inline: new Map(DEFINITIONS.map((one, at) => [String(at), one])) });
  const rows = DEFINITIONS.map((definition, slot) => {
    const card = definition.card(0);
    const capabilityIds = card.capabilities.map(({ id }) => id);
    const rest = { mailboxCapacity: 100, lazy: false, durable: true } as const;
    const delivery = card.id === 'retrier' ? ('retry' as const) : ('once' as const);
    const profile = { card, capabilityIds, delivery, ...rest };
    return { id: card.id, slot, place: 'here', profile, revision: 0 };
  });
  const agents = rows.map(({ id, slot }) => ({
    id,
    module: String(slot),
    broken: undefined,
    process: undefined,
  }));
  node.control({ t: 'host', ref: 0, change: deltaOf(0, rows), agents, isAgain: false });
  const cells = await until('they are hosted', () => {
    const found = rows.map(({ slot }) => node.host.node.cellOf(slot));
    return found.every((cell) => cell !== undefined) && found;
  });
  node.control({ t: 'start', slots: [0, 1, 2] });
  await until('they run', () => cells.every((cell) => cell?.status === 'running'));
  client = (cells[0] as Cell).client;
  worker = cells[1] as Cell;
});
afterEach(() => node.host.close());

/** Asks the worker under this id. */
function ask(
  envelopeId: string,
  options: { signal?: AbortSignal; onProgress?: (progress: Progress) => void; recipient?: string } = {},
) {
  return client.ask({
    envelopeId,
    recipient: 'worker',
    capability: 'work',
    payload: 'this',
    deadlineAtMs: client.seams.clock.now() + 60_000,
    metadata: { mark: 'of the asker' },
    ...options,
  });
}

/** The worker gets what the asker had asked of it in a former process. */
function recover(envelopeId: string): void {
  const [now, extras] = [client.seams.clock.now(), { derived: true as const }];
  const mail = new Mail(
    envelopeId,
    '',
    typeIndex('request'),
    'asker',
    'worker',
    envelopeId,
    now,
    'this',
    'work',
    0,
    NO_ASK,
    undefined,
    extras,
  );
  mail.wasLeft = true;
  node.host.node.outbox.acceptLeft(worker.row, mail);
}

describe('What is asked again under the same id (F-01, F-02)', () => {
  it('is handled once, and answered each time', async () => {
    const first = ask('job');
    await until('it is in hand', () => hands.length === 1);
    expect(hands[0]?.envelope).toMatchObject({
      id: 'job',
      sender: 'asker',
      metadata: { mark: 'of the asker' },
    });
    gate.resolve('done');
    expect([await first, await ask('job'), await ask('job')]).toEqual(['done', 'done', 'done']);
    expect(hands).toHaveLength(1);
    expect(await ask('another job')).toBe('done');
    expect(hands).toHaveLength(2);
  });

  it('hears the progress, the checkpoints and the answer of what a former process had asked for', async () => {
    recover('job');
    await until('it is in hand', () => hands.length === 1);
    const heard: Progress[] = [];
    const again = ask('job', { onProgress: (progress) => heard.push(progress) });
    const other = ask('another job', { onProgress: (progress) => heard.push(progress) });
    await until('both wait', () => worker.waiting === 2);
    hands[0]?.progress(0.5);
    hands[0]?.checkpoint({ so: 'far' });
    await until('it hears', () => heard.length === 2);
    expect(heard).toEqual([{ fraction: 0.5 }, { fraction: 0.5, partial: { so: 'far' } }]);
    gate.resolve('done');
    expect([await again, await other]).toEqual(['done', 'done']);
    expect(hands).toHaveLength(2);
  });

  it('hears every report of the work in order, also those that were told before it was asked again', async () => {
    recover('job');
    await until('it is in hand', () => hands.length === 1);
    hands[0]?.report({ n: 1 });
    const heard: unknown[] = [];
    const onProgress = ({ report }: Progress) => heard.push(report);
    const again = ask('job', { onProgress });
    await until('it waits', () => worker.waiting === 1);
    hands[0]?.report({ n: 2 });
    await until('it hears', () => heard.length === 1);
    gate.resolve('done');
    expect(await again).toBe('done');
    expect(heard).toEqual([{ n: 2 }, { n: 1 }, { n: 2 }]);
    heard.length = 0;
    expect(await ask('job', { onProgress })).toBe('done');
    expect(heard).toEqual([{ n: 1 }, { n: 2 }]);
    expect(hands).toHaveLength(1);
  });

  it('hears of the attempt that answered, and not of one that died before it', async () => {
    const heard: unknown[] = [];
    const options = {
      recipient: 'retrier',
      onProgress: ({ report }: Progress) => void heard.push(report),
    };
    const retrier = node.host.node.cellOf(2) as Cell;
    const asked = ask('job', options);
    await until('it is in hand', () => hands.length === 1);
    hands[0]?.report({ attempt: 1 });
    gate.reject(new Error('it dies'));
    await until('it is down', () => retrier.status !== 'running');
    gate = Promise.withResolvers();
    node.control({ t: 'start', slots: [2] });
    await until('it is in hand again', () => hands.length === 2);
    hands[1]?.report({ attempt: 2 });
    gate.resolve('done');
    expect(await asked).toBe('done');
    expect(heard).toEqual([{ attempt: 1 }, { attempt: 2 }]);
    heard.length = 0;
    expect(await ask('job', options)).toBe('done');
    expect(heard).toEqual([{ attempt: 2 }]);
    expect(hands).toHaveLength(2);
  });

  it('is told nothing that JSON cannot say', async () => {
    const asked = ask('job');
    await until('it is in hand', () => hands.length === 1);
    for (const what of [undefined, { at: new Date() }, [Number.NaN]])
      expect(() => hands[0]?.report(what)).toThrow(expect.objectContaining({ code: 'NOT_SERIALISABLE' }));
    gate.resolve('done');
    expect(await asked).toBe('done');
  });

  it('is cancelled wherever it is', async () => {
    recover('job');
    await until('it is in hand', () => hands.length === 1);
    const abort = new AbortController();
    const again = rejection(ask('job', { signal: abort.signal }));
    abort.abort();
    expect(await again).toMatchObject({ code: 'CANCELLED' });
    expect(hands[0]?.signal.aborted).toBe(true);
  });
});
