import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { hire, takeUp } from '../fixtures/agents/agency.ts';
import { agent, until } from '../fixtures/until.ts';

const HOWS = ['assigned', 'released', 'left', 'swarm'] as const;
type How = (typeof HOWS)[number];
/** Each is somebody else. */
const keys = Object.fromEntries(
  HOWS.map((how) => [how, newApiKey({ kind: 'service', tenant: how })]),
) as Record<How, ReturnType<typeof newApiKey>>;

let folder: string;
let system: Team;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-strangers-'));
  system = await startSystem({
    agents: [agent('agency'), agent('temp')],
    workers: 2,
    journal: { path: join(folder, 'journal.db') },
    supervision: { refusal: { firstMs: 600_000, maxMs: 600_000 } },
  });
  const records = HOWS.map((how) => keys[how].record);
  ({ url } = await system.serve({ authenticators: [apiKeys(records, { clock: systemClock })] }));
});
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Has AGENCY hire TEMP, over A2A. */
async function call(how: How): Promise<string> {
  const message = {
    messageId: `m-${how}`,
    role: 'ROLE_USER',
    parts: [{ data: { tool: hire.id, arguments: { how } } }],
  };
  const answer = await fetch(`${url}/agency/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-api-key': keys[how].key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  return answer.text();
}

const rowOf = async (id: string) => (await system.roster()).find((row) => row.id === id);

/** The agent has died over what this one had it do, and is there for everybody else. */
async function isChargedTo(how: How, agentId: string): Promise<void> {
  const refused = await until(`${agentId} refuses whoever called`, async () =>
    (await system.recentEvents(1_000)).find(
      (event) =>
        event.type === 'outsider-refused' &&
        event.agentId === agentId &&
        event.reason?.includes(keys[how].record.id),
    ),
  );
  expect(refused.errorCode).toBe('RATE_LIMITED');
  await until(`${agentId} runs`, async () => (await rowOf(agentId))?.status === 'running');
}

describe('What somebody outside has begun, and an agent dies over after the work in hand is over (F-04)', () => {
  it.each(['assigned', 'released'] as const)('is theirs to bear: a task that was %s', async (how) => {
    expect(await call(how)).toContain('accepted');
    await isChargedTo(how, 'temp');
  });

  it('also when the agent that proposed it has begun another life since', async () => {
    expect(await call('left')).toContain('left');
    const temp = { agent: 'temp', capability: takeUp };
    await until('TEMP was asked', async () => (await system.ask(temp, { takes: false })) === 1);
    const { place = '', restarts = 0 } = (await rowOf('agency')) ?? {};
    await system.terminate(place);
    await until('AGENCY is there again', async () => ((await rowOf('agency'))?.restarts ?? 0) > restarts);
    expect(await system.ask(temp, { takes: true })).toBe(1);
    await isChargedTo('left', 'temp');
  });

  it('also what it is told of the swarm that it has made', async () => {
    expect(await call('swarm')).toContain('completed');
    await isChargedTo('swarm', 'agency');
  });
});
