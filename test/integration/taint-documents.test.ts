import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type System, type Taint } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addNumber, fail, hearNumber, noteNumber, openPlan, readPlan } from '../fixtures/agents/planning.ts';
import { writePlanKeys } from '../fixtures/plan-keys.ts';
import { union } from '../fixtures/taint-model.ts';
import { agent, until } from '../fixtures/until.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-taint-documents-'));
  file = join(folder, 'acknowledged');
  writeFileSync(file, '');
  writePlanKeys(join(folder, 'keys'), ['mars', 'venus', 'system/host']);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Both in threads of their own, and without a journal. */
const light = () => ({
  agents: [agent('mars-plans-lightly'), agent('venus-plans-lightly')],
  supervision: { backOff: { firstMs: 1, maxMs: 1 }, intensity: { maxRestarts: 100 } },
});
const durable = () => ({
  agents: [agent('mars-plans'), agent('venus-plans')],
  journal: { path: join(folder, 'journal.db') },
});
const add = (system: System, id: string, n: number, taint?: Taint) =>
  system.ask({ agent: id, capability: addNumber }, { n, file }, taint === undefined ? {} : { taint });

/** What is in an agent, and in the plan as it has it. */
async function at(system: System, id: string): Promise<{ taint: readonly string[]; numbers: string[] }> {
  let taint: readonly string[] = [];
  const onTaint = (more: Taint): void => {
    taint = union(taint, more);
  };
  const { numbers } = await system.ask({ agent: id, capability: readPlan }, {}, { onTaint });
  return { taint, numbers: Object.keys(numbers) };
}
/** The same, as soon as the number is in it. */
const whenIn = (system: System, id: string, n: number) =>
  until(`${id} has ${n}`, async () => {
    const seen = await at(system, id);
    return seen.numbers.includes(String(n)) && seen;
  });

describe('what is put into a shared document (F-09)', () => {
  it('taints the members in other threads that take it in, and what they put into it', async () => {
    await using system = await startSystem(light());
    const places = (await system.roster()).map(({ id, place }) => `${id} ${place}`);
    expect(places).toEqual(expect.arrayContaining(['mars worker-1', 'venus worker-2']));
    await add(system, 'mars', 1);
    expect((await whenIn(system, 'venus', 1)).taint).toEqual([]);
    await add(system, 'mars', 2, ['web:a']);
    expect((await whenIn(system, 'venus', 2)).taint).toEqual(['web:a']);
    await add(system, 'venus', 3, ['web:b']);
    expect((await whenIn(system, 'mars', 3)).taint).toEqual(['web:a', 'web:b']);
  });

  it('taints whoever observes the document before it is told', async () => {
    await using system = await startSystem(light());
    await add(system, 'venus', 0);
    await whenIn(system, 'mars', 0);
    const { promise: isReady, resolve: onProgress } = Promise.withResolvers<unknown>();
    const heard = system.ask({ agent: 'venus', capability: hearNumber }, { n: 1 }, { onProgress });
    await isReady;
    await add(system, 'mars', 1, ['web:a']);
    expect(await heard).toEqual(['web:a']);
  });

  it('goes on to a member that comes later, and over the embedder, which is told nothing itself', async () => {
    await using system = await startSystem({ ...light(), agents: [agent('mars-plans-lightly')] });
    await add(system, 'mars', 1, ['web:a']);
    const plan = await openPlan(await system.client());
    await until('the embedder has it', () => plan.document.getMap('numbers').has('1'));
    // Nobody has it now but the embedder.
    await system.stopAgent('mars');
    await system.start([agent('venus-plans-lightly')]);
    expect((await whenIn(system, 'venus', 1)).taint).toEqual(['web:a']);
    noteNumber(plan, 2, 'host');
    expect((await whenIn(system, 'venus', 2)).taint).toEqual(['web:a']);
  });

  it('is in the next actor that opens the document again', async () => {
    await using system = await startSystem(light());
    await add(system, 'mars', 1, ['web:a']);
    await whenIn(system, 'venus', 1);
    const crash = () => system.ask({ agent: 'venus', capability: fail }, {}).catch(() => undefined);
    await crash();
    expect((await whenIn(system, 'venus', 1)).taint).toEqual(['web:a']);
  });

  it('is in the document that a durable agent has back from the journal', async () => {
    {
      await using system = await startSystem(durable());
      await add(system, 'mars', 1, ['web:a']);
      expect((await whenIn(system, 'venus', 1)).taint).toEqual(['web:a']);
      await system.whenKept();
    }
    await using system = await startSystem({ ...durable(), agents: [agent('venus-plans')] });
    expect((await whenIn(system, 'venus', 1)).taint).toEqual(['web:a']);
  });
});
