import { capability, defineAgent } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultPolicies } from '../../../policies/index.ts';
import type { AgentDefinition } from '../../../runtime/agent/agent-definition.ts';
import { deltaOf } from '../../../runtime/routing/routing-table.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { COUNT } from '../../../runtime/observe/thread-counters.ts';
import { nodePair } from '../../fixtures/node-pair.ts';
import { rejection } from '../../fixtures/until.ts';

const work = capability({
  id: 'work',
  description: 'Says that it was done, keeps how far it is, or fails',
  input: z.enum(['done', 'kept', 'failed']),
  output: z.string(),
});

/** What one tell to the crier has it tell others. */
const CRIES = 100;
const TELLS = 20;

const define = (id: string) => defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2 });
const asker = define('asker').on('notification', () => undefined) as AgentDefinition<unknown>;
/** Called while the worker handles something. */
let meanwhile: () => void = () => undefined;
const worker = define('worker').handle(work, (what, ctx) => {
  meanwhile();
  if (what === 'kept') ctx.checkpoint('half');
  if (what === 'failed') throw new Error('it cannot');
  return what;
}) as AgentDefinition<unknown>;
const relayed = capability({ ...work, id: 'relayed' });
const relay = define('relay').handle(relayed, (what, ctx) =>
  ctx.ask({ agent: 'worker', capability: work }, what),
) as AgentDefinition<unknown>;
const crier = define('crier').on('notification', (_, ctx) => {
  for (let n = 0; n < CRIES; n++) ctx.tell('asker', n);
}) as AgentDefinition<unknown>;

let pair: Awaited<ReturnType<typeof nodePair>>;
afterEach(() => {
  meanwhile = () => undefined;
  pair.close();
});

const startWorking = async (...policies: Parameters<typeof nodePair>[1][]) => {
  pair = await nodePair(
    [
      { definition: asker, at: 'here' },
      { definition: worker, at: 'there' },
    ],
    ...policies,
  );
  return pair;
};

/** The crier has handled what it was told, and there is no room in the port for what it told. */
async function startCrying(delivery: 'once' | 'retry') {
  pair = await nodePair([
    { definition: asker, at: 'here', mailboxCapacity: 5_000 },
    { definition: crier, at: 'there', delivery },
  ]);
  for (let n = 0; n < TELLS; n++) expect(pair.tell('asker', 'crier', n)).toMatchObject({ delivered: true });
  await pair.deliver([pair.there]);
  expect(pair.there.host.node.cellOf(1)?.waiting).toBe(0);
  return pair;
}

describe('Credit between two threads', () => {
  it('is given back for everything that is taken in, also for what is read out of turn', async () => {
    const { ask, deliver } = await startWorking();
    let answered = 0;
    for (let round = 1; round <= 40; round++) {
      // So many that answers are read out of turn.
      for (let n = 0; n < 64; n++) {
        void ask('asker', work, 'done').then((answer) => {
          expect(answer).toBe('done');
          answered += 1;
        });
      }
      await deliver();
      expect(answered).toBe(round * 64);
    }
  });
});

describe('What was judged by a table that has changed on the way', () => {
  it('is judged again where it arrives', async () => {
    const { ask, turn, change, there, deliver } = await startWorking(defaultPolicies());
    const refused = rejection(ask('asker', work, 'done'));
    await turn();
    change(there, 'worker', { sandboxId: 'cell' });
    await deliver();
    expect((await refused).code).toBe('SANDBOX_VIOLATION');
  });

  it('is judged again by the rules of the moment, too (N-4.5)', async () => {
    const { ask, turn, there, deliver } = await startWorking(defaultPolicies());
    const refused = rejection(ask('asker', work, 'done'));
    await turn();
    there.control({ t: 'config', config: { tiers: { rules: [] } } });
    there.control({ t: 'table', delta: deltaOf(2, []) });
    await deliver();
    expect((await refused).code).toBe('TIER_VIOLATION');
  });
});

describe('What another thread has sent by a table that is newer', () => {
  /** `there` does not know the worker any more; `here` is told of one more change than it. */
  async function startBehind() {
    pair = await nodePair([
      { definition: asker, at: 'here' },
      { definition: worker, at: 'here' },
      { definition: relay, at: 'there' },
    ]);
    const { here, there } = pair;
    const row = there.host.node.table.get('worker') as AgentRow;
    there.control({ t: 'table', delta: deltaOf(2, [], ['worker']) });
    here.control({ t: 'table', delta: deltaOf(2, []) });
    return { ...pair, row };
  }

  it('lets what it causes wait for the change', async () => {
    const { ask, here, there, deliver, row } = await startBehind();
    here.control({ t: 'table', delta: deltaOf(3, []) });
    const answer = ask('asker', relayed, 'done');
    await deliver();
    expect(there.host.node.router).toMatchObject({ state: 'awaiting', held: 1 });
    there.control({ t: 'table', delta: deltaOf(3, [row]) });
    await deliver();
    expect(await answer).toBe('done');
    expect(there.host.node.router.state).toBe('ready');
  });

  it('is not what a table of the same age came with', async () => {
    const { ask, there, deliver } = await startBehind();
    const failed = rejection(ask('asker', relayed, 'done'));
    await deliver();
    expect((await failed).message).toContain('No agent with id "worker" is registered');
    expect(there.host.node.router.state).toBe('ready');
  });
});

describe('What is sent to a thread before there is a link to it', () => {
  it('goes there when there is, is counted once, and its ask is answered', async () => {
    pair = await nodePair(
      [
        { definition: asker, at: 'here' },
        { definition: worker, at: 'there' },
      ],
      [],
      { isLinked: false },
    );
    const { here, ask, tell, deliver, linkBoth } = pair;
    const answer = ask('asker', work, 'done');
    expect(tell('asker', 'worker', 'x')).toMatchObject({ delivered: true });
    await deliver();
    expect(here.host.node.countInFlight()).toBe(2);
    await linkBoth();
    await deliver();
    expect(await answer).toBe('done');
    expect(here.host.node.countInFlight()).toBe(0);
    expect(here.host.node.counters[COUNT.accepted]).toBe(2);
  });
});

describe('An envelope that a thread handles', () => {
  it('is marked as begun before its handler runs', async () => {
    const { here, ask, turn, deliver } = await startWorking();
    const fates = () =>
      here.host.node.outbox
        .flowsTo(new Map([[1, undefined]]))
        .flatMap((flow) => flow.unsettledEntries().map(({ fate }) => fate));
    let during: string[] = [];
    meanwhile = () => {
      during = fates();
    };
    const asked = ask('asker', work, 'done');
    await turn();
    expect(fates()).toEqual(['untouched']);
    await deliver();
    expect(await asked).toBe('done');
    expect(during).toEqual(['cut-off']);
    expect(fates()).toEqual([]);
  });
});

describe('An envelope that a thread has handled', () => {
  it('is not settled before everything is posted that its handler sent', async () => {
    const { here, there, deliver } = await startCrying('once');
    expect(here.host.node.countInFlight()).toBe(TELLS);
    await deliver();
    expect(here.host.node.countInFlight()).toBe(0);
    expect(there.host.node.countInFlight()).toBe(0);
  });

  it('is dead-lettered, if it is, before it is settled', async () => {
    const { here, there, ask, deliver } = await startWorking();
    const unsettled: number[] = [];
    const reasons: string[] = [];
    there.onTold = (message) => {
      if (message.t !== 'told') return;
      unsettled.push(here.host.node.countInFlight());
      reasons.push(...message.letters.map(({ reason }) => reason));
    };
    const failed = rejection(ask('asker', work, 'failed'));
    await deliver();
    expect((await failed).code).toBe('HANDLER_FAILED');
    expect(unsettled).toEqual([1]);
    expect(reasons).toEqual(['The handler of worker failed: it cannot']);
    expect(here.host.node.countInFlight()).toBe(0);
  });

  it('leaves no checkpoint behind', async () => {
    const { there, ask, deliver } = await startWorking();
    const kept: string[] = [];
    there.onTold = ({ t }) => kept.push(t);
    const asked = ask('asker', work, 'kept');
    await deliver();
    expect(await asked).toBe('kept');
    expect(kept).toContain('checkpoint');
    expect(there.host.node.checkpoints.isUsed).toBe(false);
  });
});

describe('What a dead thread had begun, and the others had not settled', () => {
  it('counts as an attempt where the death is charged to it, and nowhere else', async () => {
    const { succeed } = await startCrying('retry');
    const next = await succeed({ reason: 'it ended', charge: { incarnation: 0, flow: 0, sequence: 7 } });
    const mails = [...(next.cellOf(1)?.mails() ?? [])];
    expect(mails.map(({ sequence }) => sequence)).toEqual(Array.from({ length: TELLS }, (_, at) => at + 1));
    expect(mails.map(({ attempts }) => attempts)).toEqual(
      mails.map(({ sequence }) => (sequence === 7 ? 1 : 0)),
    );
  });

  it('is told, not begun again, where it may be handled once alone', async () => {
    const { succeed } = await startCrying('once');
    const next = await succeed({ reason: 'it ended', charge: undefined });
    const codes = [...(next.cellOf(1)?.mails() ?? [])].map(({ tombstone }) => tombstone?.code);
    expect(codes).toEqual(Array.from({ length: TELLS }, () => 'ACTOR_DIED'));
  });
});
