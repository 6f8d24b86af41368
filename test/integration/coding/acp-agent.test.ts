import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AskOptions, startSystem, type System } from 'orrery';
import { type CodeChangeRequest, type CodeChangeResult, codeChange, type CodingEvent } from 'orrery/coding';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markedWith } from '../../fixtures/coding/marked.ts';
import { until } from '../../fixtures/until.ts';

const AGENTS = [
  'acp',
  'acp-patient',
  'acp-impatient',
  'acp-silent',
  'acp-login',
  'acp-future',
  'acp-missing',
];
const base = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-acp-')));
const root = join(base, 'worktree');
const outside = join(base, 'outside');
const record = join(base, 'record.jsonl');
const SECRETS = { GIVEN_TOKEN: 'given-secret-2', DEPLOY_TOKEN: 'deploy-secret-1' };
let system: System;

beforeAll(async () => {
  for (const folder of [root, outside]) mkdirSync(folder);
  symlinkSync(outside, join(root, 'out'));
  writeFileSync(join(outside, 'theirs.txt'), 'theirs');
  const bin = fileURLToPath(new URL('../../fixtures/coding/bin', import.meta.url));
  Object.assign(process.env, SECRETS, { PATH: `${bin}:${process.env['PATH']}` });
  const agents = AGENTS.map((name) => ({
    module: new URL(`../../fixtures/coding/agents/${name}.agent.ts`, import.meta.url),
  }));
  system = await startSystem({ agents });
});
afterAll(async () => {
  await system.stop();
  rmSync(base, { recursive: true });
});

type Failure = { code: string; message: string; details: Record<string, unknown> };
type Given = { env: Record<string, string>; prompt: string; cwd: string; sessionId: string };

let tasks = 0;

/** Asks an agent for a task with this plan, and gathers what it reports. Whoever was started for it is gone. */
async function attempt(
  agent: string,
  plan: Readonly<Record<string, unknown>>,
  request: Partial<CodeChangeRequest> = {},
  options: AskOptions = {},
) {
  const events: CodingEvent[] = [];
  const id = `t${++tasks}`;
  const description = `STAND-IN: ${JSON.stringify({ record, ...plan })}`;
  const asked = system.ask(
    { agent, capability: codeChange },
    { root, task: { id, title: 'A task', description, acceptance: [] }, ...request } as CodeChangeRequest,
    {
      timeoutMs: 600_000,
      ...options,
      onProgress: (progress) => {
        if (progress.report !== undefined) events.push(progress.report as CodingEvent);
        options.onProgress?.(progress);
      },
    },
  );
  const outcome = (await asked.catch((error: Failure) => error)) as CodeChangeResult & Failure;
  const given = givenTo(id);
  if (given !== undefined && options.signal === undefined)
    expect(markedWith(given.env['ORRERY_PROCESS'] as string)).toEqual([]);
  return { outcome, events, given, answers: answersTo(id) };
}

const lines = (): Record<string, unknown>[] =>
  readFileSync(record, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const givenTo = (id: string): Given | undefined =>
  lines().find(({ prompt }) => String(prompt).startsWith(`Task ${id}:`)) as Given | undefined;
const answersTo = (id: string): unknown => lines().find((line) => line['id'] === id)?.['answers'];

const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });
const cancelled = { outcome: { outcome: 'cancelled' } };
const refusedFile = expect.objectContaining({ code: -32_602 });

describe('A coding agent that speaks the Agent Client Protocol', () => {
  it('changes the worktree, tells what it does, and answers what came of it', async () => {
    const plan = {
      edits: [{ file: 'made/made.txt', text: 'made' }],
      tools: 2,
      plan: ['Look', 'Make'],
      say: 'I have made it.',
      tokens: 50,
      costUsd: 0.25,
    };
    const { outcome, events, given } = await attempt('acp', plan);
    expect(readFileSync(join(root, 'made/made.txt'), 'utf8')).toBe('made');
    expect(outcome).toEqual({
      summary: 'I have made it.',
      session: 'acp-session-1',
      usage: { inputTokens: 50, outputTokens: 50, costUsd: 0.25 },
      toolCalls: 3,
      refusedPermissions: 0,
    });
    expect(events).toEqual([
      { type: 'session.started', sessionId: 'acp-session-1' },
      planned('running'),
      planned('done'),
      tool('r0', 'read', 'Read a file', 'file-0.txt'),
      { type: 'tool.ended', toolId: 'r0', isError: false },
      tool('r1', 'read', 'Read a file', 'file-1.txt'),
      { type: 'tool.ended', toolId: 'r1', isError: true },
      tool('e0', 'edit', 'Edit', 'made/made.txt'),
      { type: 'tool.ended', toolId: 'e0', isError: false },
      { type: 'usage', usage: { costUsd: 0.25 } },
      { type: 'said', text: 'I have made it.' },
      { type: 'usage', usage: { inputTokens: 50, outputTokens: 50 } },
      { type: 'ended', isError: false, reason: 'end_turn' },
    ]);
    expect(given).toMatchObject({ cwd: root, env: { PWD: root, GIVEN_TOKEN: SECRETS.GIVEN_TOKEN } });
    expect(given?.env).not.toHaveProperty('DEPLOY_TOKEN');
  });

  const planned = (status: string) => ({
    type: 'planned',
    entries: ['Look', 'Make'].map((text) => ({ text, status })),
  });
  const tool = (toolId: string, kind: string, title: string, file: string) => ({
    type: 'tool.started',
    toolId,
    kind,
    title,
    paths: [join(root, file)],
  });

  it('is answered at once what it may: once, never for good, and not what leads out', async () => {
    const ask = [
      { kind: 'read', paths: ['a.txt'] },
      { kind: 'edit', paths: [join(root, 'a.txt'), 'new/b.txt'] },
      { kind: 'edit', paths: ['out/theirs.txt'] },
      { kind: 'edit', paths: ['a.txt', '../outside/theirs.txt'] },
      { kind: 'delete', paths: ['.git/config'] },
      { kind: 'edit' },
      { kind: 'execute' },
      { kind: 'fetch' },
      { kind: 'unheard-of' },
      { kind: 'edit', paths: ['a.txt'], options: ['allow_always', 'reject_always'] },
      { kind: 'execute', options: ['allow_once'] },
    ];
    const { outcome, events, answers } = await attempt('acp', { ask }, { permission: 'edit' });
    const [yes, no] = [selected('allow_once'), selected('reject_once')];
    expect(answers).toEqual([yes, yes, no, no, no, no, no, no, no, cancelled, cancelled]);
    expect(outcome).toMatchObject({ summary: 'Done.', refusedPermissions: 9 });
    const told = events.flatMap((event) => (event.type === 'permission.answered' ? [event] : []));
    expect(told.map(({ kind, isAllowed }) => `${kind} ${isAllowed}`)).toEqual([
      'read true',
      'edit true',
      'edit false',
      'edit false',
      'delete false',
      'edit false',
      'execute false',
      'fetch false',
      'other false',
      'edit false',
      'execute false',
    ]);
  });

  it('may do no more than its options allow, whatever is asked for (F-04)', async () => {
    const ask = [{ kind: 'edit', paths: ['a.txt'] }, { kind: 'execute' }];
    const { given, answers } = await attempt('acp-impatient', { ask }, { permission: 'all' });
    expect(answers).toEqual([selected('reject_once'), selected('reject_once')]);
    expect(given?.prompt).toContain('change none');
    const { answers: all } = await attempt(
      'acp',
      { ask: [...ask, { kind: 'fetch' }] },
      { permission: 'all' },
    );
    expect(all).toEqual([1, 2, 3].map(() => selected('allow_once')));
  });

  it('reads and writes files of the worktree alone through its client', async () => {
    writeFileSync(join(root, 'here.txt'), 'one\ntwo\n');
    const plan = {
      writes: [
        { file: 'deep/new.txt', text: 'new' },
        { file: 'out/theirs.txt', text: 'mine' },
        { file: join(outside, 'made.txt'), text: 'mine' },
        { file: '.git/hooks/pre-commit', text: 'mine' },
      ],
      reads: ['here.txt', 'missing.txt', 'out/theirs.txt', '/etc/passwd'],
    };
    const { outcome, answers } = await attempt('acp', plan, { permission: 'all' });
    expect(answers).toEqual([
      {},
      refusedFile,
      refusedFile,
      refusedFile,
      { content: 'one\ntwo\n' },
      expect.objectContaining({ code: -32_002 }),
      refusedFile,
      refusedFile,
    ]);
    expect(readFileSync(join(root, 'deep/new.txt'), 'utf8')).toBe('new');
    expect(readFileSync(join(outside, 'theirs.txt'), 'utf8')).toBe('theirs');
    expect([join(outside, 'made.txt'), join(root, '.git')].filter(existsSync)).toEqual([]);
    expect(outcome).toMatchObject({ refusedPermissions: 5 });
  });

  it('writes nothing through its client with the permission to read', async () => {
    const { answers } = await attempt('acp-impatient', { writes: [{ file: 'read-only.txt', text: 'x' }] });
    expect(answers).toEqual([refusedFile]);
    expect(existsSync(join(root, 'read-only.txt'))).toBe(false);
  });

  it('is told of methods that its client does not have', async () => {
    const { outcome, answers } = await attempt('acp', { call: ['terminal/create', 'made/up'] });
    expect(answers).toEqual([1, 2].map(() => expect.objectContaining({ code: -32_601 })));
    expect(outcome).toMatchObject({ summary: 'Done.' });
  });

  it('goes on with a session that it still has, and does not tell again what that has told', async () => {
    const { outcome, events, given } = await attempt('acp', { costUsd: 5.5 }, { session: 'earlier' });
    expect(given?.sessionId).toBe('earlier');
    expect(outcome).toMatchObject({ session: 'earlier', usage: { costUsd: 0.5 } });
    expect(events.filter(({ type }) => type === 'said')).toEqual([{ type: 'said', text: 'Done.' }]);
    expect((await attempt('acp', {}, { session: 'forgotten' })).outcome).toMatchObject({
      session: 'acp-session-1',
    });
  });

  it.each(['refusal', 'max_tokens', 'max_turn_requests', 'cancelled'])(
    'has failed when its turn ends with %s',
    async (stop) => {
      const { outcome } = await attempt('acp', { stop, promise: true });
      expect(outcome).toMatchObject({ code: 'HANDLER_FAILED', details: { reason: stop } });
    },
  );

  it('has failed when it answers with an error, and is told without secrets', async () => {
    const { outcome, events } = await attempt('acp', { error: `it broke: ${SECRETS.GIVEN_TOKEN}` });
    expect(outcome).toMatchObject({
      code: 'HANDLER_FAILED',
      details: { reason: 'Internal error: it broke: [hidden]' },
    });
    expect(JSON.stringify([outcome, outcome.message, events])).not.toContain(SECRETS.GIVEN_TOKEN);
  });

  it('is RATE_LIMITED, not failed, when its provider lets it wait', async () => {
    const { outcome } = await attempt('acp', {
      error: 'You have reached your usage limit. Try again in 60 s',
    });
    expect(outcome).toMatchObject({ code: 'RATE_LIMITED' });
    expect(outcome.details['retryAfterMs']).toBeLessThanOrEqual(60_000);
  });

  it.each([0, 3])('has failed when it ends in the middle of its turn (exit code %d)', async (die) => {
    const { outcome } = await attempt('acp', { die, stderr: 'the end', grandchild: 'session' });
    expect(outcome).toMatchObject({ code: 'HANDLER_FAILED', details: { exitCode: die, said: 'the end' } });
    expect(outcome.message).toContain('its turn was not over');
  });

  it('takes along what it leaves running when its turn is over', async () => {
    const { outcome } = await attempt('acp', { grandchild: 'session' });
    expect(outcome).toMatchObject({ summary: 'Done.' });
  });

  it('is bounded when it floods, and its last words count', async () => {
    const { outcome, events } = await attempt('acp', { flood: 2_000, noise: true, say: 'The end.' });
    expect(outcome).toMatchObject({ summary: 'The end.' });
    expect(events.filter(({ type }) => type === 'said').length).toBe(1_000);
    expect(events.filter(({ type }) => type === 'unreadable')).toEqual([
      { type: 'unreadable', text: 'debugger listening' },
      { type: 'unreadable', text: '[1]' },
    ]);
  });

  it('is stopped when it sends a message that is too long', async () => {
    const { outcome } = await attempt('acp', { garbage: 8_000_000 });
    expect(outcome).toMatchObject({ code: 'HANDLER_FAILED', details: { maxBytes: 8_000_000 } });
  });

  it.each([
    ['acp-impatient', true, 'group'],
    ['acp-impatient', 'deaf', 'session'],
    ['acp-silent', false, undefined],
  ])(
    'is stopped with whatever it started when it neither says anything nor works (F-11; %s, hang %s)',
    async (agent, hang, grandchild) => {
      const { outcome } = await attempt(agent, { hang, grandchild });
      expect(outcome).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: { inactivityMs: 1_500 } });
    },
  );

  it('is not stopped while it works without a word', async () => {
    expect((await attempt('acp-impatient', { busy: 4_000 })).outcome).toMatchObject({ summary: 'Done.' });
  });

  it('is stopped at the time that an attempt may take', async () => {
    const { outcome } = await attempt('acp', { hang: 'deaf' }, { limits: { timeoutMs: 1_000 } });
    expect(outcome).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: { timeoutMs: 1_000 } });
  });

  it('spends what it tells of, and is stopped when the budget is used up (F-04)', async () => {
    const { outcome } = await attempt('acp', { costUsd: 0.5, hang: true }, {}, { budget: { costUsd: 0.25 } });
    expect(outcome).toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('takes no work with a limit that it could not keep', async () => {
    const { outcome } = await attempt('acp-silent', {}, { limits: { maxCostUsd: 1 } });
    expect(outcome).toMatchObject({ code: 'REFUSED', details: { what: 'costUsd' } });
  });

  it.each([true, 'deaf'])(
    'leaves nobody when it is cancelled, and takes the next task (hang %s)',
    async (hang) => {
      const cancel = new AbortController();
      const id = `t${tasks + 1}`;
      const plan = { hang, grandchild: 'session' };
      const onProgress = (): void => cancel.abort();
      const { outcome } = await attempt('acp', plan, {}, { signal: cancel.signal, onProgress });
      expect(outcome).toMatchObject({ code: 'CANCELLED' });
      const { env } = await until('it was started', () => givenTo(id));
      await until('all are gone', () => markedWith(env['ORRERY_PROCESS'] as string).length === 0);
      expect((await attempt('acp', {})).outcome).toMatchObject({ summary: 'Done.' });
      const rows = await system.roster();
      expect(rows.find((row) => row.id === 'acp')).toMatchObject({ status: 'running', restarts: 0 });
    },
  );

  it('is told to cancel, and may end its turn before it is ended', async () => {
    const cancel = new AbortController();
    const id = `t${tasks + 1}`;
    const onProgress = (): void => cancel.abort();
    const { outcome } = await attempt(
      'acp-patient',
      { hang: true },
      {},
      { signal: cancel.signal, onProgress },
    );
    expect(outcome).toMatchObject({ code: 'CANCELLED' });
    await until('it was told', () =>
      lines().some((line) => line['id'] === id && line['isCancelled'] === true),
    );
    const { env } = givenTo(id) as Given;
    await until('all are gone', () => markedWith(env['ORRERY_PROCESS'] as string).length === 0);
  });

  it.each([
    ['acp-login', 'Log in with a browser'],
    ['acp-future', 'version 7'],
    ['acp-missing', 'no-such-acp-agent'],
  ])('declines what it cannot begin, and says why (%s)', async (agent, why) => {
    const { outcome } = await attempt(agent, {});
    expect(outcome).toMatchObject({ code: 'REFUSED' });
    expect(outcome.message).toContain(why);
  });

  it('declines a worktree that is not there', async () => {
    const { outcome } = await attempt('acp', {}, { root: join(base, 'nowhere') });
    expect(outcome).toMatchObject({ code: 'REFUSED', details: { root: join(base, 'nowhere') } });
  });

  it('marks its answer as come from outside', async () => {
    const taints: unknown[] = [];
    await attempt('acp', {}, {}, { onTaint: (taint) => taints.push(taint) });
    expect(taints).toContainEqual(['agent:acp']);
  });
});
