import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPostgresMissing, PostgresDatabase } from '../fixtures/skills/postgres-database.ts';
import type { SkillOrder } from '../fixtures/skills/skill-process.ts';
import type { Wired } from '../fixtures/speaker.ts';

const PROCESSES = 10;
const EACH = 12;
const MODULE = new URL('../fixtures/skills/skill-process.ts', import.meta.url);

/** A process that works with the database. */
class Worker {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, (said: Wired) => void>();
  #number = 0;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (said: Wired) => this.#waiting.get(said.number)?.(said));
  }

  static async start(store: string): Promise<Worker> {
    const child = fork(MODULE, { env: { ...process.env, SKILL_STORE: store }, execArgv: [] });
    await once(child, 'message');
    return new Worker(child);
  }

  async call(tool: string, args: object, tenant = 'acme'): Promise<Wired> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<Wired>();
    this.#waiting.set(number, resolve);
    this.child.send({ number, tool, args, tenant } satisfies SkillOrder);
    const said = await promise;
    if (said.failed !== undefined) throw new Error(said.failed);
    return said.output;
  }
}

describe.skipIf(isPostgresMissing)('Ten processes on one PostgreSQL', () => {
  let database: PostgresDatabase;
  let workers: Worker[] = [];
  beforeAll(async () => {
    database = await PostgresDatabase.create();
    // The first one makes the tables, the others come while it does.
    workers = await Promise.all(Array.from({ length: PROCESSES }, () => Worker.start(database.url)));
  }, 300_000);
  afterAll(async () => {
    const ends = workers.map(({ child }) => once(child, 'exit'));
    for (const { child } of workers) child.disconnect();
    await Promise.all(ends);
    await database[Symbol.asyncDispose]();
  });

  it('keep one text once, lose none, and find at once what the others have kept and removed', async () => {
    const kept = await Promise.all(
      workers.flatMap((worker, at) =>
        Array.from({ length: EACH }, (_, number) =>
          worker.call('memory.memory_add', {
            content: number % 3 === 0 ? `Shared ${number}` : `Own ${number} of ${at}`,
          }),
        ),
      ),
    );
    const ids = new Set(kept.map(({ memory_id }) => memory_id));
    expect(ids.size).toBe(EACH / 3 + (PROCESSES * EACH * 2) / 3);
    for (const worker of workers) {
      const { memories } = await worker.call('memory.memory_list', { limit: 500 });
      expect(new Set(memories.map(({ memory_id }: Wired) => memory_id))).toEqual(ids);
      const { results } = await worker.call('memory.memory_search', { query: 'own', limit: 100 });
      expect(results).toHaveLength((PROCESSES * EACH * 2) / 3);
      expect(await worker.call('memory.memory_list', {}, 'globex')).toMatchObject({ memories: [] });
    }
    const [first, ...others] = workers as [Worker, ...Worker[]];
    const [{ memory_id }] = (await first.call('memory.memory_search', { query: 'shared 3' })).results;
    await first.call('memory.memory_delete', { memory_id });
    for (const other of others) {
      const { results } = await other.call('memory.memory_search', { query: 'shared 3', limit: 100 });
      expect(results.map((memory: Wired) => memory.memory_id)).not.toContain(memory_id);
    }
  }, 300_000);

  it('let a mandatory policy be weakened by none of them', async () => {
    const rule = { id: 'r', target: 'file', operator: 'MustExist', value: 'LICENSE', severity: 'block' };
    const policy = { id: 'licence', name: 'Licence', layer: 'company', mode: 'mandatory', rules: [rule] };
    const [first] = workers as [Worker];
    await first.call('governance.governance_policy_put', { policy });
    const weak = { ...policy, layer: 'project', mode: 'optional', rules: [{ ...rule, severity: 'info' }] };
    await Promise.all(
      workers.map((worker) =>
        worker.call('governance.governance_policy_put', { policy: weak }).catch(() => undefined),
      ),
    );
    for (const worker of workers)
      expect(
        await worker.call('governance.governance_validate', { context: { files: [{ path: 'a.ts' }] } }),
      ).toMatchObject({ passed: false, violations: [{ severity: 'block' }] });
  });
});
