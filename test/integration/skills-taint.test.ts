import { toolsOf } from 'orrery/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { note, recall } from '../fixtures/agents/recalling.agent.ts';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { SkillTeam } from '../fixtures/skills/skill-team.ts';
import { agent } from '../fixtures/until.ts';

let team: SkillTeam;
let stranger: SkillUser;
let friend: SkillUser;
let doors: readonly Door[];
const recalled = (query: string) => team.system.ask(recall, { query });

beforeAll(async () => {
  const untrusted = new Set<string>();
  team = await SkillTeam.start({ agents: [agent('recalling')], trusts: (id) => !untrusted.has(id) });
  // No tenant: they share what the team itself has.
  stranger = team.user(undefined, 'admin');
  friend = team.user(undefined, 'admin');
  untrusted.add(stranger.id);
  doors = team.doors.filter(({ name }) => name !== 'envelopes');
});
afterAll(() => team[Symbol.asyncDispose]());

describe('What came from outside, remembered', () => {
  it('comes back with where it came from, to whoever is given it, and nothing else does (F-09)', async () => {
    await team.system.ask(note, { content: 'The harbour opens at dawn' });
    for (const [at, door] of doors.entries()) {
      await door.call(stranger, 'memory_add', { content: `Ship ${at} carries marzipan`, layer: 'project' });
      await door.call(friend, 'memory_add', { content: `Ship ${at} carries liquorice`, layer: 'project' });
    }
    expect(await recalled('when does the harbour open')).toEqual({
      found: ['The harbour opens at dawn'],
      before: null,
      after: null,
    });
    for (const at of doors.keys()) {
      const { found, before, after } = await recalled(`ship ${at} marzipan`);
      expect([found[0], before]).toEqual([`Ship ${at} carries marzipan`, null]);
      expect(after).toContainEqual(expect.stringMatching(/^(a2a|mcp):key:/));
    }
    expect((await recalled('liquorice')).after).toBeNull();
  });

  it('is not on what is remembered after it (F-09)', async () => {
    const [door] = doors as [Door];
    await door.call(stranger, 'memory_search', { query: 'marzipan' });
    await team.system.ask(note, { content: 'The lighthouse is striped' });
    expect(await recalled('striped lighthouse')).toMatchObject({
      found: ['The lighthouse is striped'],
      after: null,
    });
  });

  it('is asked about when it contradicts what the team has said (F-09)', async () => {
    const [door] = doors as [Door];
    const kept = await door.call(friend, 'memory_add', {
      content: 'The pilot is Ida',
      layer: 'project',
      subject: 'pilot',
    });
    const other = await door.call(stranger, 'memory_add', {
      content: 'The pilot is Rolf',
      layer: 'project',
      subject: 'pilot',
    });
    if (kept.kind !== 'done' || other.kind !== 'done') throw new Error(JSON.stringify([kept, other]));
    expect(other.output.contradicts).toMatchObject([{ memory_id: kept.output.memory_id }]);
  });
});

describe('What came from outside, kept as knowledge and as policies', () => {
  it('is on what is answered from it, and not on what is answered to other tenants (F-09)', async () => {
    const [door] = doors as [Door];
    const item = { type: 'adr', title: 'Ropes are blue', content: 'Blue ropes', status: 'accepted' };
    await door.call(stranger, 'knowledge_add', item);
    await door.call(friend, 'knowledge_add', { ...item, title: 'Sails are white', content: 'White sails' });
    const asked = (tool: string, args: object, tenant?: string) => answered(team, { tool, args, tenant });
    expect(await asked('knowledge_query', { query: 'white sails' })).toEqual([]);
    expect(await asked('knowledge_query', { query: 'blue ropes' })).toEqual([
      expect.stringMatching(/^(a2a|mcp):key:/),
    ]);
    expect(await asked('governance_policy_list', {})).toEqual([]);
    const policy = { id: 'p', name: 'P', layer: 'project', rules: [] };
    const put = await door.call(stranger, 'governance_policy_put', { policy: { ...policy, rules: [RULE] } });
    expect(put.kind).toBe('done');
    expect(await asked('governance_policy_list', {})).toEqual([expect.stringMatching(/^(a2a|mcp):key:/)]);
    expect(await asked('governance_policy_list', {}, 'another')).toEqual([]);
  });
});

const RULE = { id: 'r', target: 'code', operator: 'MustNotUse', value: 'rope' };

/** Where the answer of a tool came from outside. */
async function answered(
  { system }: SkillTeam,
  { tool, args, tenant }: { tool: string; args: object; tenant: string | undefined },
): Promise<readonly string[]> {
  const taints: string[] = [];
  const [agentId] = tool.split('_');
  const as = {
    id: 'key:asker',
    tier: 3 as const,
    roles: ['admin'],
    ...(tenant === undefined ? {} : { tenant }),
  };
  const onTaint = (taint: readonly string[]) => void taints.push(...taint);
  await toolsOf(system).call(`${agentId}.${tool}`, args, { as, onTaint });
  return taints;
}

describe('What an agent remembers for a caller', () => {
  it('is of the agent and of that caller: neither another agent nor another caller finds it (A-04, A-05)', async () => {
    const [door] = doors as [Door];
    await team.system.ask(note, { content: 'Own words of the agent', layer: 'agent' });
    await team.system.ask(note, { content: 'Own words of the team', layer: 'user' });
    expect((await recalled('own words')).found.toSorted()).toEqual([
      'Own words of the agent',
      'Own words of the team',
    ]);
    const found = await door.call(friend, 'memory_search', { query: 'own words' });
    expect(found).toMatchObject({ kind: 'done', output: { results: [] } });
  });
});
