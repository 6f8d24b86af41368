import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { isPostgresMissing } from '../fixtures/skills/postgres-database.ts';
import { TestFolder } from '../fixtures/skills/git-repository.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

const ITEM = { type: 'adr', title: 'One queue', content: 'Because of its order.', status: 'accepted' };
const POLICY = { id: 'licences', name: 'Licences', layer: 'project', rules: [] };
const MATCH = { target: 'code', operator: 'MustNotMatch' };
const long = (count: number): string => 'x'.repeat(count);
const many = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

/** What is wrong with arguments, and what the answer says of it. */
type Case = readonly [tool: string, args: object, said: string];

const WRONG_TYPES: readonly Case[] = [
  ['memory_search', { query: 42 }, 'query is 42, expected a text'],
  ['memory_search', { query: { $ne: null } }, 'query is {"$ne":null}, expected a text'],
  ['memory_get', { memory_id: ['a'] }, 'memory_id is ["a"], expected a text'],
  ['memory_add', { content: 'x', importance: '1' }, 'importance is "1", expected a number'],
  ['knowledge_query', { limit: '10' }, 'limit is "10", expected a number'],
  ['knowledge_query', { tags: 'db' }, 'tags is "db", expected a list'],
  ['knowledge_show', { id: {} }, 'id is {}, expected a text'],
  ['knowledge_check', { files: 'all' }, 'files is "all", expected a list'],
  ['governance_validate', { context: { files: 'all' } }, 'context.files is "all", expected a list'],
  ['governance_drift_check', { project: 'x', context: {}, threshold: '0' }, 'threshold is "0"'],
  ['governance_suppress', { policyId: 'x', reason: 'x', expiresAt: -1 }, 'expiresAt is -1'],
];

const UNKNOWN_FIELDS: readonly Case[] = [
  ['memory_add', { content: 'x', tenant: 'evil' }, 'tenant is "evil", expected no field of this name'],
  ['memory_search', { query: 'x', principalId: 'key:1' }, 'principalId is "key:1"'],
  ['memory_list', { roles: ['admin'] }, 'roles is ["admin"], expected no field of this name'],
  ['memory_add', { content: 'x', constructor: 'y' }, 'constructor is "y", expected no field of this name'],
  ['knowledge_add', { ...ITEM, author: 'root' }, 'author is "root", expected no field of this name'],
  ['knowledge_sync', { source: 'docs', path: '/etc' }, 'path is "/etc", expected no field of this name'],
  ['governance_policy_put', { policy: { ...POLICY, tenant: 'evil' } }, 'policy.tenant is "evil"'],
];

const TOO_LARGE: readonly Case[] = [
  ['memory_add', { content: long(32_769) }, 'expected a text of at most 32768 characters'],
  ['memory_add', { content: 'x', tags: many(33, 'x') }, 'tags is ["x"'],
  ['memory_add', { content: 'x', metadata: { a: long(9_000) } }, 'metadata is {"a":"xxx'],
  ['memory_search', { query: long(4_097) }, 'query is "xxx'],
  ['memory_get', { memory_id: long(201) }, 'memory_id is "xxx'],
  ['knowledge_query', { limit: 1e9 }, 'limit is 1000000000, expected a number of at most 100'],
  ['knowledge_add', { ...ITEM, constraints: many(1_000, { ...MATCH, value: 'x' }) }, 'constraints is [{'],
  ['knowledge_check', { files: [{ path: long(2_000) }] }, 'files[0].path is "xxx'],
  ['knowledge_check', { files: many(10_001, { path: 'a' }) }, 'files is [{"path":"a"}'],
  ['governance_policy_put', { policy: { ...POLICY, id: long(201) } }, 'policy.id is "xxx'],
];

const NO_PATTERNS: readonly Case[] = [
  ['knowledge_add', { ...ITEM, constraints: [{ ...MATCH, value: '(?=a)' }] }, 'constraints[0] is no rule'],
  ['knowledge_add', { ...ITEM, constraints: [{ ...MATCH, value: '(?=a)' }] }, '"(?=a)"'],
  [
    'governance_policy_put',
    { policy: { ...POLICY, rules: [{ id: 'r', ...MATCH, value: '(a)\\1' }] } },
    'policy.rules[0].value is "(a)\\\\1"',
  ],
];

const INJECTION = "x'; DROP TABLE memories; DROP TABLE knowledge; --";
const NOT_THERE: readonly Case[] = [
  ['memory_get', { memory_id: INJECTION }, `There is no memory ${JSON.stringify(INJECTION)}`],
  ['memory_delete', { memory_id: "' OR '1'='1" }, "There is no memory \"' OR '1'='1\""],
  ['memory_list', { after: "' OR 1=1 --" }, '"\' OR 1=1 --"'],
  ['knowledge_show', { id: '../../etc/passwd' }, 'There is no knowledge item "../../etc/passwd"'],
  ['knowledge_remove', { id: '%' }, 'There is no knowledge item "%"'],
  ['knowledge_promote', { id: INJECTION, toLayer: 'org' }, 'There is no knowledge item'],
  ['knowledge_query', { cursor: "' OR 1=1 --" }, 'cursor is "\' OR 1=1 --"'],
  ['knowledge_sync', { source: '../docs' }, 'There is no knowledge source "../docs"'],
  ['knowledge_sync', { source: '/etc' }, 'There is no knowledge source "/etc"'],
  ['governance_policy_show', { policyId: "' OR 1=1 --" }, 'policyId is "\' OR 1=1 --"'],
  ['governance_policy_show', { policyId: '../licences' }, '"../licences"'],
];

/** What full-text searches of one database or another would take for more than words. */
const QUERIES = [
  INJECTION,
  "' OR 1=1 --",
  '"',
  'queue" OR "x',
  'NEAR(queue order, 5)',
  'content:queue NOT (',
  'queue & !order | (:*',
  '%_\\',
  '$1 ?1 :a @@ <->',
  '^queue* {a b}: -x',
];

describe.each(['sqlite', 'postgres'] as const)('Hostile input with %s', (store) => {
  describe.skipIf(store === 'postgres' && isPostgresMissing)('where there is one', () => {
    let team: SkillTeam;
    let folder: TestFolder;
    beforeAll(async () => {
      folder = new TestFolder();
      const sources = SkillTeam.doorNames.map((name) => ({ name: 'docs', path: folder.path, tenant: name }));
      team = await SkillTeam.start({ store, sources });
    });
    afterAll(async () => {
      await team[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    });

    describe.each(SkillTeam.doorNames)('by %s', (name) => {
      let door: Door;
      let chief: SkillUser;
      let kept: unknown;
      const done = async (...call: Parameters<Door['call']>) => outputOf(await door.call(...call));
      /** All that there is of the tenant. */
      const everything = async () => [
        await done(chief, 'memory_export', {}),
        await done(chief, 'knowledge_query', {}),
        await done(chief, 'governance_policy_list', {}),
        await done(chief, 'governance_drift_list', { project: 'x' }),
        await done(chief, 'governance_suppressions', {}),
      ];
      beforeAll(async () => {
        door = team.door(name);
        chief = team.user(name, 'admin');
        await done(chief, 'memory_add', { content: 'The queue is in order', subject: 'queue' });
        await done(chief, 'knowledge_add', ITEM);
        await done(chief, 'governance_policy_put', { policy: POLICY });
        kept = await everything();
      });

      it.each([
        ['of a wrong type', WRONG_TYPES],
        ['of a field that there is not', UNKNOWN_FIELDS],
        ['that is too large', TOO_LARGE],
        ['with a pattern that could take for ever', NO_PATTERNS],
        ['that names nothing, by SQL or by a path', NOT_THERE],
      ])('%s is refused with field and value, and changes nothing (A-20)', async (_, cases) => {
        for (const [tool, args, said] of cases)
          expect(await door.call(chief, tool, args)).toEqual({
            kind: 'failed',
            code: expect.stringMatching(/^(INVALID_PAYLOAD|REFUSED)$/),
            message: expect.stringContaining(said),
          });
        expect(await everything()).toEqual(kept);
      });

      it('is words where words are looked for, and text where text is kept (A-13, A-15)', async () => {
        for (const query of QUERIES) {
          expect(await door.call(chief, 'memory_search', { query })).toMatchObject({ kind: 'done' });
          expect(await door.call(chief, 'knowledge_query', { query })).toMatchObject({ kind: 'done' });
        }
        expect((await done(chief, 'memory_search', { query: 'queue" OR "x' })).results).toHaveLength(1);
        expect(await everything()).toEqual(kept);
        const said = { content: INJECTION, subject: INJECTION, scope: INJECTION, tags: [INJECTION] };
        const { memory_id } = await done(chief, 'memory_add', said);
        expect(await done(chief, 'memory_get', { memory_id })).toMatchObject({ memory: said });
        const listed = await done(chief, 'memory_list', { subject: INJECTION, tags: [INJECTION] });
        expect(listed.memories).toMatchObject([{ memory_id }]);
        await done(chief, 'memory_delete', { memory_id });
        expect(await everything()).toEqual(kept);
      });

      it('takes no field from a prototype, which A2A leaves out and others refuse by name', async () => {
        const args = JSON.parse('{"content":"Proto","__proto__":{"layer":"company"}}') as object;
        const outcome = await door.call(chief, 'memory_add', args);
        if (outcome.kind === 'done') {
          expect(outcome.output).toMatchObject({ layer: 'user', duplicate: false });
          await done(chief, 'memory_delete', { memory_id: outcome.output.memory_id });
        } else expect(outcome).toMatchObject({ message: expect.stringContaining('__proto__ is') });
        expect(await everything()).toEqual(kept);
      });

      it('has a pattern end whatever the text, and reads no file that is named (A-17, A-18)', async () => {
        const evil = { ...MATCH, value: '^(a+)+$' };
        const { id } = await done(chief, 'knowledge_add', { ...ITEM, constraints: [evil] });
        const files = [
          { path: '../../../../etc/passwd' },
          { path: 'a.ts', content: `${'a'.repeat(100_000)}!` },
        ];
        expect(await done(chief, 'knowledge_check', { files, knowledgeItemIds: [id] })).toMatchObject({
          isValid: true,
        });
        await done(chief, 'knowledge_remove', { id });
        const rules = [
          { id: 'evil', ...evil },
          { id: 'root', ...MATCH, value: 'root:' },
        ];
        await done(chief, 'governance_policy_put', { policy: { ...POLICY, id: 'evil', rules } });
        expect(await done(chief, 'governance_validate', { context: { files } })).toMatchObject({
          isValid: true,
        });
        await done(chief, 'governance_policy_remove', { policyId: 'evil' });
        expect(await everything()).toEqual(kept);
      });
    });
  });
});
