import { capability, defineAgent, startSystem, type SystemEvent } from 'orrery';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { Recording, rowText, sentenceOf, troublesOf, waitsOf } from '../../model/index.ts';

const number = { input: z.number(), output: z.number() };
const halve = capability({ id: 'numbers.halve', description: 'Halves', ...number });
const quarter = capability({ id: 'numbers.quarter', description: 'Quarters', ...number });

const card = { version: '1.0.0', description: 'Counts', tier: 2 as const };
const halver = defineAgent({ id: 'halver', name: 'HALVER', ...card }).handle(halve, (value) => {
  if (value === 0) throw new Error('nothing to halve');
  return value / 2;
});
const quarterer = defineAgent({ id: 'quarterer', name: 'QUARTERER', ...card }).handle(
  quarter,
  async (value, ctx) => ctx.ask(halve, await ctx.ask(halve, value)),
);

/** What a real team told, as the trace that a recording would write. */
async function recorded(): Promise<Recording> {
  const events: SystemEvent[] = [];
  const system = await startSystem({ agents: [halver, quarterer] });
  await system.inspect((event) => events.push(event));
  expect(await system.ask(quarter, 8)).toBe(2);
  await expect(system.ask(halve, 0)).rejects.toMatchObject({ code: 'HANDLER_FAILED' });
  await system.stop();
  const agents = ['halver', 'quarterer'].map((id) => ({
    id,
    name: id.toUpperCase(),
    tier: 2,
    capabilities: [],
  }));
  const header = { format: 'orrery-trace', version: 1, startedAtMs: events[0]?.timestamp, agents };
  const { recording, reader } = Recording.ofTrace();
  reader.push(Buffer.from([header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('')));
  reader.end();
  expect(recording.faults).toEqual([]);
  return recording;
}

it('A real run reads as what it was: who asked whom, what went wrong, and nothing left over (F-08)', async () => {
  const recording = await recorded();
  const { latest } = recording;
  const asked = recording.conversations().find(({ capability: what }) => what === 'numbers.quarter');
  const rows = recording.conversation(asked?.id ?? '')?.rows ?? [];
  const arrows = rows
    .filter((row) => row.kind === 'arrow')
    .map(({ from, to, capability: what, isAnswer, outcome }) =>
      [from, to, isAnswer ? 'answer' : what, outcome ?? ''].join(' ').trim(),
    );
  expect(arrows).toEqual([
    'system/host quarterer numbers.quarter handled',
    'quarterer halver numbers.halve handled',
    'halver quarterer answer',
    'quarterer halver numbers.halve handled',
    'halver quarterer answer',
    'quarterer system/host answer',
  ]);
  expect(rows.map(rowText)[0]).toContain('system/host to quarterer: request numbers.quarter');
  expect(waitsOf(latest)).toEqual([]);
  expect([...latest.inFlight.keys()]).toEqual([]);
  expect([...latest.agents.values()].filter(({ waiting }) => waiting > 0)).toEqual([]);
  expect(troublesOf(latest).some(({ text }) => text.includes('nothing to halve'))).toBe(true);
  expect(sentenceOf(latest)).toContain('2 agents');
});
