import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { knowledgeAgent } from '../../../../../actors/skills/knowledge/knowledge-agent.ts';
import {
  knowledgeAdd,
  knowledgeCheck,
  knowledgePromote,
  knowledgeQuery,
  knowledgeRemove,
  knowledgeShow,
  knowledgeStatus,
  knowledgeSync,
} from '../../../../../actors/skills/knowledge/knowledge-capabilities.ts';
import { KnowledgeSkill } from '../../../../../actors/skills/knowledge/knowledge-skill.ts';
import { KnowledgeSource } from '../../../../../actors/skills/knowledge/knowledge-source.ts';
import { parseKnowledge } from '../../../../../actors/skills/knowledge/parse-knowledge.ts';
import type { TaskNote } from '../../../../../actors/tasks/task-of.ts';
import { type Capability, parseInput, parseOutput } from '../../../../../runtime/protocol/capability.ts';
import type { Requester } from '../../../../../runtime/protocol/requester.ts';
import type { Taint } from '../../../../../runtime/protocol/taint.ts';
import type { HandlingContext } from '../../../../../runtime/public.ts';
import { TestFolder } from '../../../../fixtures/skills/git-repository.ts';
import { type OpenKnowledge, openKnowledge } from '../../../../fixtures/skills/knowledge.ts';

type Context = HandlingContext<KnowledgeSkill>;

/**
 * - `task`   what the note of a task says beside.
 * - `taint`  of the envelope.
 * - `given`  what was answered before, outside of a task.
 * - `sender` of the envelope. @default that of a caller outside
 */
interface Call {
  readonly signal?: AbortSignal;
  readonly given?: object;
  readonly sender?: string;
  readonly requester?: Requester;
  readonly task?: Partial<TaskNote>;
  readonly taint?: Taint;
}

let knowledge: OpenKnowledge;
let folder: TestFolder;
let skill: KnowledgeSkill;
let marked: string[];
let reports: unknown[];
let progress: unknown[];

beforeEach(async () => {
  knowledge = await openKnowledge();
  folder = new TestFolder();
  const source = (fields: object) => KnowledgeSource.parse({ name: 'docs', path: folder.path, ...fields });
  skill = new KnowledgeSkill({
    store: knowledge.store,
    ...knowledge.seams,
    roles: undefined,
    sources: [
      source({ tenant: 'acme' }),
      source({ tenant: 'globex', name: 'a' }),
      source({ tenant: 'globex', name: 'b' }),
    ],
  });
  marked = [];
  reports = [];
  progress = [];
});
afterEach(async () => {
  await skill.close();
  folder[Symbol.dispose]();
});

const as = (role: string, tenant = 'acme'): Call => ({
  requester: { principalId: `key:${role}`, tenant, roles: [role] },
});

const OWNER = { principalId: 'key:admin', tenant: 'acme' };
const noteOf = (task: Partial<TaskNote>): TaskNote => ({
  taskId: 't1',
  contextId: 'c1',
  agentId: 'knowledge',
  owner: OWNER,
  taskState: 'working',
  message: { messageId: 'm1', role: 'user', parts: [{ text: 'x' }] } as TaskNote['message'],
  history: [],
  approvals: [],
  hasApprover: false,
  ...task,
});

function contextOf({
  requester,
  task,
  taint,
  given,
  sender = 'system/host',
  signal = new AbortController().signal,
}: Call): Context {
  return {
    self: 'knowledge',
    requester,
    envelope: {
      sender,
      metadata: {
        ...(task && { task: noteOf(task) }),
        ...(taint && { taint }),
        ...(given && { client: { can: ['question'], given } }),
      },
    },
    signal,
    // Nobody approves anything.
    ask: async () => ({ isByNobody: true }),
    newId: knowledge.seams.newId,
    markOutside: (source: string) => marked.push(source),
    report: (what: unknown) => reports.push(what),
    progress: (...how: unknown[]) => progress.push(how),
    effect: (_name: string, run: (signal: AbortSignal) => unknown) => run(signal),
  } as unknown as Context;
}

/** Asks as the runtime does: what is said and what is answered fit their schemas. */
async function ask<Input, Output, Parsed, Given>(
  declared: Capability<Input, Output, Parsed, Given>,
  run: (input: Parsed, ctx: Context) => Promise<Given>,
  input: z.input<typeof declared.input>,
  call: Call = as('admin'),
): Promise<Output> {
  const parsed = parseInput(declared as Capability<unknown, unknown, Parsed>, input);
  const output = await run.call(skill, parsed, contextOf(call));
  const given: unknown = JSON.parse(JSON.stringify(output));
  expect(given).toEqual(output);
  return parseOutput(declared as unknown as Capability<unknown, Output>, given, 'knowledge');
}

const add = (said: object = {}, call?: Call) =>
  ask(
    knowledgeAdd,
    skill.add,
    { type: 'adr', title: 'Use SQLite', content: 'Because.', status: 'accepted', ...said },
    call,
  );
const query = (wanted: object = {}, call?: Call) => ask(knowledgeQuery, skill.query, wanted, call);
const show = (wanted: { id: string; history?: boolean; markdown?: boolean }, call?: Call) =>
  ask(knowledgeShow, skill.show, wanted, call);
const check = (wanted: object, call?: Call) => ask(knowledgeCheck, skill.check, wanted, call);
const promote = (wanted: { id: string; toLayer: 'team' | 'org' | 'company' }, call?: Call) =>
  ask(knowledgePromote, skill.promote, wanted, call);
const sync = (wanted: object = {}, call?: Call) => ask(knowledgeSync, skill.sync, wanted, call);

describe('knowledge_query and knowledge_show', () => {
  it('give summaries of what fits, and all of one (A-15, A-16)', async () => {
    const constraints = [{ operator: 'MustNotUse', target: 'dependency', value: 'mongodb' }];
    await add({ title: 'Old' });
    await add({ severity: 'block', tags: ['db'], supersedes: ['k1'], constraints, metadata: { votes: 3 } });
    expect(await query({ query: 'SQLite' })).toEqual({
      success: true,
      totalCount: 1,
      items: [
        {
          id: 'k2',
          type: 'adr',
          layer: 'project',
          scope: '',
          title: 'Use SQLite',
          summary: 'Because.',
          status: 'accepted',
          tags: ['db'],
          hasConstraints: true,
          score: expect.any(Number),
          updatedAt: 2_000,
        },
      ],
    });
    expect(await show({ id: 'k2' })).toEqual({
      success: true,
      id: 'k2',
      type: 'adr',
      layer: 'project',
      scope: '',
      title: 'Use SQLite',
      content: 'Because.',
      status: 'accepted',
      severity: 'block',
      tags: ['db'],
      constraints,
      metadata: { votes: 3 },
      supersedes: ['k1'],
      supersededBy: [],
      author: 'key:admin',
      createdAt: 2_000,
      updatedAt: 2_000,
      version: 1,
    });
    expect(await show({ id: 'k1' })).toMatchObject({ status: 'superseded', supersededBy: ['k2'] });
    expect((await query({ limit: 1, status: 'superseded' })).items).toMatchObject([
      { id: 'k1', status: 'superseded' },
    ]);
  });

  it('give a page at a time', async () => {
    for (let at = 0; at < 12; at++) await add();
    const { items, cursor, totalCount } = await query();
    expect([items.length, totalCount]).toEqual([10, 12]);
    const next = await query({ cursor });
    expect(next.items.map(({ id }) => id)).toEqual(['k2', 'k1']);
    expect(next.cursor).toBeUndefined();
  });

  it('show what an item said before, and the file that it would be', async () => {
    await add({ status: 'proposed' });
    await ask(knowledgeStatus, skill.setStatus, { id: 'k1', status: 'accepted' });
    const { history, markdown } = await show({ id: 'k1', history: true, markdown: true });
    expect(history).toEqual([
      {
        version: 1,
        status: 'proposed',
        title: 'Use SQLite',
        content: 'Because.',
        author: 'key:admin',
        updatedAt: 1_000,
      },
    ]);
    expect(parseKnowledge('x.md', markdown ?? '').item).toMatchObject({
      id: 'k1',
      title: 'Use SQLite',
      content: 'Because.',
    });
  });

  it('tell of another tenant’s item as of none (A-05)', async () => {
    await add();
    const other = as('admin', 'globex');
    expect(await query({}, other)).toEqual({ success: true, items: [], totalCount: 0 });
    for (const deed of [
      show({ id: 'k1' }, other),
      promote({ id: 'k1', toLayer: 'org' }, other),
      ask(knowledgeRemove, skill.remove, { id: 'k1' }, other),
      check({ files: [], knowledgeItemIds: ['k1'] }, other),
    ])
      await expect(deed).rejects.toMatchObject({
        code: 'REFUSED',
        message: 'There is no knowledge item "k1"',
      });
  });

  it('are for callers who have proved who they are (A-04)', async () => {
    const requester = { principalId: 'anonymous', roles: [] };
    await expect(query({}, { requester })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await query({}, {})).toMatchObject({ totalCount: 0 });
  });
});

describe('What came to knowledge from outside (F-09)', () => {
  it('marks whoever is shown it, and nobody else', async () => {
    await add({ title: 'Foreign' }, { ...as('admin'), taint: ['web:a', 'web:b'] });
    await add({ title: 'Own' });
    await query({ query: 'own' });
    expect(marked).toEqual([]);
    await query({ query: 'foreign' });
    expect(marked.splice(0)).toEqual(['web:a', 'web:b']);
    await show({ id: 'k1' });
    expect(marked.splice(0)).toEqual(['web:a', 'web:b']);
  });

  it('marks whoever is told of a violation of it', async () => {
    const constraints = [{ operator: 'MustNotUse', target: 'dependency', value: 'a' }];
    await add({ constraints }, { ...as('admin'), taint: ['web:a'] });
    await check({ dependencies: [{ name: 'b' }] });
    expect(marked).toEqual([]);
    await check({ dependencies: [{ name: 'a' }] });
    expect(marked).toEqual(['web:a']);
  });

  it('stays on what is promoted', async () => {
    await add({}, { ...as('admin'), taint: ['web:a'] });
    const { id } = await promote({ id: 'k1', toLayer: 'team' }, { ...as('admin'), taint: ['web:b'] });
    marked = [];
    await show({ id });
    expect(marked).toEqual(['web:a', 'web:b']);
  });
});

describe('knowledge_check (A-17, C-20)', () => {
  it('says what is violated, and whether that blocks', async () => {
    const constraints = [
      { operator: 'MustNotUse', target: 'dependency', value: 'left-pad', severity: 'block', message: 'No' },
    ];
    await add({ constraints });
    expect(await check({ dependencies: [{ name: 'left-pad', version: '1.0.0' }] })).toEqual({
      passed: false,
      isValid: false,
      violations: [
        {
          itemId: 'k1',
          itemTitle: 'Use SQLite',
          constraint: { operator: 'MustNotUse', target: 'dependency', value: 'left-pad' },
          severity: 'block',
          message: 'No',
          found: 'left-pad@1.0.0',
        },
      ],
      omitted: 0,
      summary: { info: 0, warn: 0, block: 1 },
      checkedItems: 1,
    });
    expect(await check({ files: [] })).toMatchObject({ passed: true, isValid: true, checkedItems: 1 });
  });

  it('asks what is to be checked when nothing is given, and again when the answer is none (A-09)', async () => {
    const constraints = [{ operator: 'MustNotUse', target: 'dependency', value: 'a' }];
    await add({ constraints });
    const asked = { code: 'INPUT_REQUIRED', message: expect.stringContaining('What is to be checked?') };
    await expect(check({ knowledgeItemIds: ['k1'] })).rejects.toMatchObject(asked);
    for (const answer of [undefined, 'a', {}, { dependencies: 'a' }])
      await expect(check({}, { ...as('admin'), task: { answer } })).rejects.toMatchObject(asked);
    const task = { answer: { dependencies: [{ name: 'a' }] } };
    expect(await check({}, { ...as('admin'), task })).toMatchObject({ isValid: false });
  });

  it('takes no more than it can check', async () => {
    const files = (count: number, content: string) => ({
      files: Array.from({ length: count }, (_, at) => ({ path: `${at}`, content })),
    });
    await expect(check(files(10_001, ''))).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    await expect(check(files(17, 'ä'.repeat(500_000)))).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    await check(files(16, 'ä'.repeat(500_000)));
    await expect(check({ config: 'x'.repeat(1_000_001) })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
  });
});

describe('knowledge_promote', () => {
  const details = async (deed: Promise<unknown>) =>
    deed.then(
      () => undefined,
      (error: { code: string; details: { pause: { approval: Record<string, unknown> } } }) => {
        expect(error.code).toBe('INPUT_REQUIRED');
        return error.details.pause.approval;
      },
    );

  it('has a person decide in a task, where it is to hold for an organisation or the company (C-24)', async () => {
    await add({}, { ...as('admin'), taint: ['web:a'] });
    const inTask = { ...as('admin'), task: {} };
    expect(await details(promote({ id: 'k1', toLayer: 'org' }, inTask))).toMatchObject({
      action: 'knowledge.promote',
      details: { id: 'k1', toLayer: 'org', title: 'Use SQLite', content: expect.any(String) },
      message: 'Have the adr "Use SQLite" hold for the layer org?',
      taint: ['web:a'],
    });
    expect((await query({ layer: 'org' })).items).toEqual([]);
    expect(await promote({ id: 'k1', toLayer: 'team' }, inTask)).toMatchObject({
      layer: 'team',
      promotedFrom: 'k1',
    });
    const company = { id: 'k1', toLayer: 'company' } as const;
    const made = await promote(company, { ...as('admin'), given: await approved(company) });
    expect(made).toMatchObject({ layer: 'company', status: 'accepted' });
    expect(await details(promote({ id: 'k1', toLayer: 'company' }, inTask))).toBeUndefined();
  });

  /** What whoever is asked outside of a task answers. */
  const approved = async (wanted: { id: string; toLayer: 'org' | 'company' }, yes = true) => {
    const asked = await promote(wanted).then(
      () => undefined,
      (error: { details: { pause: { schema: { required: string[] } } } }) => error.details.pause.schema,
    );
    const [name = ''] = asked?.required ?? [];
    return { [name]: { action: 'accept', content: { approved: yes } } };
  };
  const org = { id: 'k1', toLayer: 'org' } as const;

  it('asks a caller outside of a task itself, about exactly that (C-24)', async () => {
    await add();
    await add({ title: 'Other' });
    await expect(promote(org)).rejects.toMatchObject({
      code: 'INPUT_REQUIRED',
      message: 'Have the adr "Use SQLite" hold for the layer org?',
    });
    const given = await approved(org);
    for (const [wanted, call] of [
      [{ id: 'k2', toLayer: 'org' }, {}],
      [{ id: 'k1', toLayer: 'company' }, {}],
      [org, { taint: ['web:a'] }],
      [org, { given: { approve: { action: 'accept', content: { approved: true } } } }],
    ] as const)
      await expect(promote(wanted, { ...as('admin'), given, ...call } as Call)).rejects.toMatchObject({
        code: 'INPUT_REQUIRED',
      });
    expect(await promote(org, { ...as('admin'), given })).toMatchObject({ layer: 'org' });
  });

  it('is refused by who says no, and by whoever may not promote, also with the answer (A-06)', async () => {
    await add();
    const yes = await approved(org);
    const [name] = Object.keys(yes) as [string];
    for (const given of [await approved(org, false), { [name]: { action: 'decline' } }])
      await expect(promote(org, { ...as('admin'), given })).rejects.toMatchObject({
        code: 'NOT_PERMITTED',
        message: '"knowledge.promote" was not approved',
      });
    await expect(promote(org, { ...as('developer'), given: yes })).rejects.toMatchObject({
      message: expect.stringContaining('takes the role architect'),
    });
    expect((await query({ layer: 'org' })).items).toEqual([]);
  });

  it('believes no agent that says its caller has approved', async () => {
    await add();
    const given = await approved(org);
    await expect(promote(org, { ...as('admin'), given, sender: 'mars' })).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      message: '"knowledge.promote" was not approved: nobody is there who could approve it',
    });
  });

  it('promotes nothing that was superseded', async () => {
    await add();
    await add({ supersedes: ['k1'] });
    await expect(promote({ id: 'k1', toLayer: 'org' })).rejects.toMatchObject({
      message: 'The knowledge item "k1" is superseded: only what is accepted is promoted',
    });
  });
});

describe('knowledge_sync', () => {
  const file = (title: string) => `---\ntype: adr\ntitle: ${title}\nstatus: accepted\n---\n`;

  it('reads the source of the tenant, tells how far it is, and keeps that in the task (A-10)', async () => {
    folder.put(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}.md`, file('x')])));
    expect(await sync({}, { ...as('tech-lead'), task: {} })).toEqual({
      success: true,
      source: 'docs',
      added: 150,
      changed: 0,
      removed: 0,
      unchanged: 0,
      faults: [],
      faultCount: 0,
    });
    expect(progress).toEqual([
      [100 / 150, '100 of 150 files of docs'],
      [1, '150 of 150 files of docs'],
    ]);
    expect(reports).toMatchObject([
      { task: { state: { source: 'docs', done: 100, added: 100 } } },
      { task: { state: { source: 'docs', done: 150, added: 150 } } },
    ]);
    const state = { source: 'docs', done: 100, added: 100, changed: 0, removed: 0 };
    expect(await sync({}, { ...as('tech-lead'), task: { state } })).toMatchObject({
      added: 100,
      unchanged: 50,
    });
    expect((await query({}, as('admin'))).items[0]).toMatchObject({
      source: { name: 'docs', path: expect.stringMatching(/md$/) },
    });
  });

  it('takes the role of a tech lead (A-06)', async () => {
    await expect(sync({}, as('developer'))).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
  });

  it('reads no source that is not named for the tenant, whatever path is given for a name', async () => {
    for (const source of ['a', folder.path, '../docs', '.'])
      await expect(sync({ source })).rejects.toMatchObject({
        code: 'REFUSED',
        message: `There is no knowledge source ${JSON.stringify(source)}`,
      });
    await expect(sync({}, as('admin', 'initech'))).rejects.toMatchObject({
      message: 'There is no knowledge source',
    });
  });

  it('asks which source is meant when there are several (A-09)', async () => {
    folder.put({ 'x.md': file('x') });
    const globex = as('admin', 'globex');
    await expect(sync({}, globex)).rejects.toMatchObject({
      code: 'INPUT_REQUIRED',
      details: { pause: { schema: { enum: ['a', 'b'] } } },
    });
    expect(await sync({}, { ...globex, task: { answer: 'b' } })).toMatchObject({ source: 'b', added: 1 });
    expect(await sync({ source: 'b' }, globex)).toMatchObject({ source: 'b', unchanged: 1 });
  });

  it('reads a source once at a time', async () => {
    const [first, second] = await Promise.allSettled([sync(), sync()]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ reason: { message: 'The source "docs" is being read already' } });
    await sync();
  });

  it('goes on once a reading that was cancelled has ended, one at a time', async () => {
    folder.put({ 'x.md': file('x') });
    const abort = new AbortController();
    const cut = sync({}, { ...as('admin'), signal: abort.signal });
    abort.abort(new Error('cancelled'));
    const results = await Promise.allSettled([cut, sync(), sync()]);
    expect(results).toMatchObject([
      { reason: { message: 'cancelled' } },
      { value: { added: 1 } },
      { reason: { message: 'The source "docs" is being read already' } },
    ]);
  });
});

describe('The agent of knowledge', () => {
  it('offers what it can do', () => {
    const { options, handlers } = knowledgeAgent({ store: ':memory:' });
    expect(options).toMatchObject({
      id: 'knowledge',
      name: 'KNOWLEDGE',
      tier: 2,
      version: '1.0.0',
      concurrency: 16,
      onThrow: 'keep',
    });
    expect([...handlers.keys()]).toEqual([
      'knowledge_query',
      'knowledge_show',
      'knowledge_check',
      'knowledge_add',
      'knowledge_status',
      'knowledge_promote',
      'knowledge_remove',
      'knowledge_sync',
    ]);
  });

  it('refuses options that are none, naming field and value', () => {
    const source = { name: 'docs', path: '/docs' };
    for (const [sources, message] of [
      [[{ ...source, ref: '-x' }], 'knowledge.sources[0].ref is "-x"'],
      [[source, source], 'knowledge.sources[1].name is "docs"'],
      [[{ ...source, layer: 'planet' }], 'knowledge.sources[0].layer is "planet"'],
    ] as const)
      expect(() => knowledgeAgent({ knowledge: { sources: sources as never } })).toThrow(message);
    knowledgeAgent({ knowledge: { sources: [source, { ...source, tenant: 'acme' }] } });
  });
});
