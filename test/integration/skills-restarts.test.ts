import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newApiKey } from '../../gateway/admit/api-keys.ts';
import type { Door, SkillUser, Ticket } from '../fixtures/skills/doors.ts';
import { HostProcess } from '../fixtures/skills/host-process.ts';
import { isPostgresMissing, PostgresDatabase } from '../fixtures/skills/postgres-database.ts';
import { outputOf } from '../fixtures/skills/skill-team.ts';

const { key, record } = newApiKey({ kind: 'user', roles: ['admin'], tenant: 'acme' });
const CHIEF: SkillUser = { key, id: `key:${record.id}`, tenant: 'acme', roles: record.roles };
const ADR = { type: 'adr', content: 'Because of its order.', status: 'accepted' };

describe.each(['sqlite', 'postgres'] as const)('A kill -9 between question and approval: %s', (kind) => {
  let folder: string;
  let owned: AsyncDisposableStack;
  beforeEach(() => {
    owned = new AsyncDisposableStack();
    folder = mkdtempSync(join(tmpdir(), 'orrery-skills-'));
  });
  afterEach(async () => {
    await owned.disposeAsync();
    rmSync(folder, { recursive: true });
  });

  it.skipIf(kind === 'postgres' && isPostgresMissing)(
    'leaves the question open: by every door it goes on with the answer (A-08, A-09, C-24)',
    async () => {
      const database = kind === 'postgres' ? owned.use(await PostgresDatabase.create()) : undefined;
      if (database !== undefined) {
        process.env['SKILL_STORE'] = database.url;
        owned.defer(() => void delete process.env['SKILL_STORE']);
      }
      const order = {
        journal: join(folder, 'journal.db'),
        store: database === undefined ? join(folder, 'skills.sqlite') : 'env:SKILL_STORE',
        keys: [record],
        stateKey: 'the same in each of the processes of this test',
      };
      const start = async () => owned.use(await HostProcess.start(order));

      const first = await start();
      const open: { readonly id: string; readonly yes: Ticket; readonly no: Ticket }[] = [];
      for (const door of first.doors) {
        const title = `Kept by ${door.name}`;
        const { id } = outputOf(await door.call(CHIEF, 'knowledge_add', { ...ADR, title }));
        const ask = async (toLayer: string): Promise<Ticket> => {
          const asked = await door.call(CHIEF, 'knowledge_promote', { id, toLayer });
          if (asked.kind !== 'question') throw new Error(JSON.stringify(asked));
          return asked.ticket;
        };
        open.push({ id, yes: await ask('company'), no: await ask('org') });
      }
      await first[Symbol.asyncDispose]();

      const next = await start();
      for (const [at, door] of next.doors.entries()) {
        const { id, yes, no } = open[at] as (typeof open)[number];
        expect(await door.decide(CHIEF, no, false)).toMatchObject({ kind: 'failed', code: 'UNAUTHORIZED' });
        expect(await door.decide(CHIEF, yes, true)).toMatchObject({
          kind: 'done',
          output: { promotedFrom: id, layer: 'company' },
        });
      }
      const [door] = next.doors as [Door];
      for (const [layer, titles] of [
        ['company', next.doors.map(({ name }) => `Kept by ${name}`)],
        ['org', []],
      ] as const) {
        const found = outputOf(await door.call(CHIEF, 'knowledge_query', { layer, limit: 100 }));
        expect(found.items.map(({ title }: { title: string }) => title).toSorted()).toEqual(
          titles.toSorted(),
        );
      }
    },
  );
});
