import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { missionRecover, missionRule, readMission, runMission, wallClock } from '@orrery/ralph-loop';
import { startSystem, type Team } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditPlanets } from '../../audit-planets.ts';
import { auditMission, auditTeam } from '../../audit-team.ts';
import { securityScan } from '../../capabilities.ts';
import { toolsOf } from '../../planet.ts';
import { ENTERED_STATES, type EnteredState } from '../entered-state.ts';

const KEY = ['gh', `p_${'Ab1'.repeat(12)}`].join('');
const OF_THE_LOOP = ['sun', 'mercury'];
const REPORTERS = ['neptune', 'mimas', 'atlas', 'andromeda'];

let system: Team;
let root: string;
const entered: EnteredState[] = [];
const channel = new BroadcastChannel(ENTERED_STATES);
beforeAll(async () => {
  channel.onmessage = (message: unknown) => entered.push((message as { data: EnteredState }).data);
  root = mkdtempSync(join(tmpdir(), 'orrery-at-work-'));
  writeFileSync(join(root, 'notes.txt'), `token = '${KEY}'\n`);
  const agents = auditTeam().map(({ module, ...spec }) => {
    const watched = new URL('../watched.agent.ts', import.meta.url);
    watched.searchParams.set('module', module.href);
    return { ...spec, module: watched };
  });
  system = await startSystem({ agents, spareThread: false, workers: 1 });
});
afterAll(async () => {
  await system.stop();
  channel.close();
  rmSync(root, { recursive: true });
});

const statesOf = (planet: string): string[] =>
  entered.flatMap((one) => (one.planet === planet ? [one.state] : []));

/** What a planet has entered since `before`; it tells of it in its own time. */
const eventually = (planet: string, states: readonly string[], before = 0) =>
  expect.poll(() => statesOf(planet).slice(before), { timeout: 100_000 }).toEqual(states);

describe('the 21 planets in a running mission', () => {
  it('are state machines in worker threads, whose states say what each of them does', async () => {
    const mission = await readMission(auditMission(root));
    const { stopReason, tasks } = await runMission(mission, { root }, { team: system, clock: wallClock });
    expect(stopReason).toBe('all-accepted');
    expect(tasks.map(({ context }) => context.attempts.length)).toEqual(tasks.map(() => 1));

    for (const definition of await auditPlanets()) {
      const { id } = definition.options;
      if (OF_THE_LOOP.includes(id)) continue;
      const tools = toolsOf(definition).map(({ name }) => `busy.atWork.${name}`);
      const work = [
        ...['busy', 'busy.opening'],
        ...(REPORTERS.includes(id) ? ['busy.reporting'] : []),
        ...(tools.length > 0 ? ['busy.listing', 'busy.atWork', ...tools, 'busy.checking'] : []),
      ];
      await eventually(id, ['waiting', ...work, 'answering', 'waiting']);
    }
    await expect
      .poll(() => [...new Set(OF_THE_LOOP.flatMap(statesOf))].sort(), { timeout: 100_000 })
      .toEqual(['answering', 'assigning', 'judging', 'waiting']);
    expect(new Set(entered.map(({ planet }) => planet))).toEqual(new Set(Object.keys(PLANETS)));
    expect(entered.every(({ isInWorker }) => isInWorker)).toBe(true);
    const roster = await system.roster();
    expect(roster.map(({ id }) => id).sort()).toEqual(Object.keys(PLANETS).sort());
    expect(new Set(roster.map(({ place }) => place))).toEqual(new Set(['worker-1']));
  });

  it('refuse, and are cut off, in states of their own', async () => {
    const before = statesOf('enceladus').length;
    await expect(system.ask(securityScan, { root: join(root, 'gone') })).rejects.toMatchObject({
      code: 'REFUSED',
    });
    await eventually('enceladus', ['busy', 'busy.opening', 'refusing', 'waiting'], before);
    const left = new AbortController();
    const asked = system.ask(securityScan, { root }, { signal: left.signal, onProgress: () => left.abort() });
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect
      .poll(() => statesOf('enceladus').slice(-2), { timeout: 100_000 })
      .toEqual(['cutOff', 'waiting']);
  });

  it('have SUN say what becomes of a task that nobody could do, and settle a dispute', async () => {
    const before = statesOf('sun').length;
    const task = { id: 'a', title: 'A', capability: 'nobody.can' };
    await system.ask(missionRecover, { task, why: 'it died', tried: [], roster: [], isSecondTime: false });
    const finding = {
      id: 'f',
      rule: 'tool/rule',
      severity: 'low',
      file: 'notes.txt',
      line: 1,
      message: 'M',
      evidence: 'E',
      lineSha256: '0'.repeat(64),
      agent: 'mars',
    } as const;
    await system.ask(missionRule, { agent: 'mars', approved: 3, disputed: [{ finding, reason: 'no' }] });
    await eventually('sun', ['recovering', 'waiting', 'ruling', 'waiting'], before);
  });
});
