import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AskOptions, startSystem, type System } from 'orrery';
import { type CodeChangeRequest, type CodeChangeResult, codeChange, type CodingEvent } from 'orrery/coding';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, startedWith } from '../../fixtures/processes.ts';
import { markedWith as startedWithMark } from '../../fixtures/coding/marked.ts';
import { until } from '../../fixtures/until.ts';

const AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'impatient', 'narrow', 'missing', 'plain'];
const BACKENDS = ['claude', 'codex', 'gemini', 'opencode'] as const;
const root = mkdtempSync(join(tmpdir(), 'orrery-coding-'));
const record = join(root, 'record.jsonl');
const SECRETS = {
  DEPLOY_TOKEN: 'deploy-secret-1',
  GIVEN_TOKEN: 'given-secret-2',
  ANTHROPIC_API_KEY: 'anthropic-secret-3',
  GIT_DIR: '/elsewhere',
};
let system: System;

beforeAll(async () => {
  const bin = fileURLToPath(new URL('../../fixtures/coding/bin', import.meta.url));
  Object.assign(process.env, SECRETS, { PATH: `${bin}:${process.env['PATH']}` });
  const agents = AGENTS.map((name) => ({
    module: new URL(`../../fixtures/coding/agents/${name}.agent.ts`, import.meta.url),
  }));
  system = await startSystem({ agents });
});
afterAll(async () => {
  await system.stop();
  rmSync(root, { recursive: true });
  await until(
    'all watchers are gone',
    () => startedWith('orrery-watcher').filter((pid) => childrenOf(process.pid).includes(pid)).length === 0,
  );
});

let tasks = 0;
type Plan = Readonly<Record<string, unknown>>;

/** Asks an agent for a task with this plan, and gathers what it reports. */
async function attempt(
  agent: string,
  plan: Plan,
  request: Partial<CodeChangeRequest> = {},
  options: AskOptions = {},
) {
  const events: CodingEvent[] = [];
  const task = {
    id: `t${++tasks}`,
    title: 'A task',
    description: `STAND-IN: ${JSON.stringify({ record, ...plan })}`,
    acceptance: [],
  };
  const asked = system.ask(
    { agent, capability: codeChange },
    { root, task, ...request } as CodeChangeRequest,
    {
      timeoutMs: 600_000,
      ...options,
      onProgress: (progress) => {
        if (progress.report !== undefined) events.push(progress.report as CodingEvent);
        options.onProgress?.(progress);
      },
    },
  );
  const outcome: Failure | CodeChangeResult = await asked.catch((error: Failure) => error);
  return { outcome: outcome as CodeChangeResult & Failure, events, given: givenTo(task.id) };
}

type Failure = { code: string; message: string; details: Record<string, unknown> };
type Given = { argv: string[]; env: Record<string, string>; prompt: string; cwd: string };

function givenTo(id: string): Given {
  const lines = readFileSync(record, { encoding: 'utf8', flag: 'a+' }).trim().split('\n');
  const all = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Given);
  return all.find(({ prompt }) => prompt.startsWith(`Task ${id}:`)) as Given;
}

/** Nobody whom this attempt has started lives on. */
const nobodyIsLeft = ({ env }: Given): void =>
  expect(startedWithMark(env['ORRERY_PROCESS'] as string)).toEqual([]);

describe('A coding agent that is a program', () => {
  it.each(BACKENDS)(
    'changes the worktree, tells what it does, and answers what came of it (%s)',
    async (agent) => {
      const edits = [{ file: `${agent}/made.txt`, text: agent }];
      const plan = { edits, say: 'I have made it.', tools: 1, tokens: 100, costUsd: 0.25, denied: 1 };
      const { outcome, events, given } = await attempt(agent, plan, { permission: 'edit' });
      expect(readFileSync(join(root, agent, 'made.txt'), 'utf8')).toBe(agent);
      const tellsCost = agent === 'claude' || agent === 'opencode';
      expect(outcome).toEqual({
        summary: 'I have made it.',
        session: expect.any(String),
        usage: { inputTokens: 50, outputTokens: 50, ...(tellsCost ? { costUsd: 0.25 } : {}) },
        toolCalls: expect.any(Number),
        refusedPermissions: 1,
      });
      const types = events.map(({ type }) => type);
      expect(types[0]).toBe('session.started');
      expect(types.at(-1)).toBe('ended');
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'tool.started',
          kind: 'edit',
          paths: [join(root, agent, 'made.txt')],
        }),
      );
      expect(given.cwd).toBe(root);
      nobodyIsLeft(given);
    },
  );

  it.each(BACKENDS)(
    'is known by all flags that it is started with, with each permission and a session (%s)',
    async (agent) => {
      for (const permission of ['read', 'edit', 'run', 'all'] as const) {
        const { outcome } = await attempt(
          agent,
          {},
          { permission, session: 'ses-1', limits: { maxTurns: 3 } },
        );
        expect(outcome).toMatchObject({ session: 'ses-1', summary: 'Done.' });
      }
    },
  );

  it('narrows permission and limits to what its options allow (F-04)', async () => {
    const { given } = await attempt(
      'narrow',
      {},
      { permission: 'all', limits: { maxTurns: 7, maxCostUsd: 2 } },
    );
    expect(given.argv.join(' ')).toContain('--permission-mode default');
    expect(given.argv.join(' ')).toContain('--max-turns 7 --max-budget-usd 2');
    expect(given.prompt).toContain('change none');
  });

  it('does not believe that all is done because its model says so', async () => {
    const { outcome } = await attempt('claude', { promise: true, exit: 1 });
    expect(outcome).toMatchObject({ code: 'HANDLER_FAILED' });
  });

  it('declines with exit code and the last of its log, without secrets, and lives on', async () => {
    const { outcome } = await attempt('claude', {
      exit: 3,
      stderr: `it broke: api_key=abcdefgh ${SECRETS.ANTHROPIC_API_KEY}`,
    });
    expect(outcome).toMatchObject({
      code: 'HANDLER_FAILED',
      details: { exitCode: 3, session: expect.any(String) },
    });
    expect(outcome.message).toContain('ended with exit code 3: it broke: api_key=[hidden] [hidden]');
    const rows = await system.roster();
    expect(rows.find(({ id }) => id === 'claude')).toMatchObject({ status: 'running', restarts: 0 });
  });

  it('says which program is missing', async () => {
    const { outcome } = await attempt('missing', {});
    expect(outcome).toMatchObject({ code: 'REFUSED', details: { program: 'no-such-coding-agent' } });
  });

  it.each(BACKENDS)('is RATE_LIMITED, not failed, when its provider lets it wait (%s)', async (agent) => {
    const { outcome, given } = await attempt(agent, { rateLimit: { resetInS: 600 } });
    expect(outcome).toMatchObject({ code: 'RATE_LIMITED' });
    if (agent === 'claude') {
      expect(outcome.details['retryAfterMs']).toBeGreaterThan(0);
      expect(outcome.details['retryAfterMs']).toBeLessThanOrEqual(600_000);
    }
    nobodyIsLeft(given);
  });

  it('goes on after a rate limit that passes', async () => {
    const { outcome, events } = await attempt('codex', { rateLimit: { isFinal: false } });
    expect(outcome).toMatchObject({ summary: 'Done.' });
    expect(events).toContainEqual(expect.objectContaining({ type: 'rate.limited', isFinal: false }));
  });

  it.each([
    [true, 'group'],
    ['deaf', 'session'],
  ])(
    'is stopped with whatever it started when it neither prints nor works (F-11; hang %s)',
    async (hang, grandchild) => {
      const { outcome, given } = await attempt('impatient', { hang, grandchild });
      expect(outcome).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: { inactivityMs: 1_500 } });
      expect(outcome.message).toContain('used no processor');
      nobodyIsLeft(given);
    },
  );

  it('is not stopped while it works without a word', async () => {
    const { outcome } = await attempt('impatient', { busy: 4_000 });
    expect(outcome).toMatchObject({ summary: 'Done.' });
  });

  it('takes along what it leaves running when it ends', async () => {
    const { outcome, given } = await attempt('opencode', { grandchild: 'session' });
    expect(outcome).toMatchObject({ summary: 'Done.' });
    nobodyIsLeft(given);
  });

  it('is bounded when it floods, and its last words count', async () => {
    const { outcome, events } = await attempt('claude', {
      flood: 5_000,
      garbage: 3_000_000,
      say: 'The end.',
    });
    expect(outcome).toMatchObject({ summary: 'The end.' });
    expect(events.filter(({ type }) => type === 'said').length).toBeLessThanOrEqual(1_000);
    expect(events).toContainEqual({ type: 'unreadable', text: 'a line of more than 1000000 bytes' });
    expect(events.at(-1)).toMatchObject({ type: 'ended' });
  });

  it('spends what it uses as it goes, and is stopped when the budget is used up (F-04)', async () => {
    const plan = { turns: 50, tokens: 100, costUsd: 0.01, hang: true };
    const { outcome, given } = await attempt('claude', plan, {}, { budget: { tokens: 450 } });
    expect(outcome).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    nobodyIsLeft(given);
  });

  it('is stopped at the tokens that an attempt may use', async () => {
    const { outcome, given } = await attempt('narrow', { turns: 3, tokens: 600, hang: true });
    expect(outcome).toMatchObject({ code: 'BUDGET_EXCEEDED', details: { limit: 1_000 } });
    nobodyIsLeft(given);
  });

  it('takes no work with a limit that it could not keep', async () => {
    const { outcome } = await attempt('codex', {}, { limits: { maxCostUsd: 1 } });
    expect(outcome).toMatchObject({ code: 'REFUSED', details: { what: 'costUsd' } });
  });

  it('is stopped at the time that an attempt may take', async () => {
    const { outcome, given } = await attempt(
      'gemini',
      { hang: 'deaf', grandchild: 'group' },
      { limits: { timeoutMs: 1_000 } },
    );
    expect(outcome).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: { timeoutMs: 1_000 } });
    if (given !== undefined) nobodyIsLeft(given);
  });

  it('leaves nobody when it is cancelled, and the agent takes the next task', async () => {
    const cancel = new AbortController();
    const id = `t${tasks + 1}`;
    const onProgress = (): void => cancel.abort();
    const { outcome } = await attempt(
      'claude',
      { hang: 'deaf', grandchild: 'session' },
      {},
      { signal: cancel.signal, onProgress },
    );
    expect(outcome).toMatchObject({ code: 'CANCELLED' });
    const given = await until('it was started', () => givenTo(id));
    await until('all are gone', () => startedWithMark(given.env['ORRERY_PROCESS'] as string).length === 0);
    expect((await attempt('claude', {})).outcome).toMatchObject({ summary: 'Done.' });
    const rows = await system.roster();
    expect(rows.find((row) => row.id === 'claude')).toMatchObject({ status: 'running', restarts: 0 });
  });

  it('leaves nobody when its system stops', async () => {
    const module = new URL('../../fixtures/coding/agents/codex.agent.ts', import.meta.url);
    const other = await startSystem({ agents: [{ module }] });
    const id = 'stopped';
    const task = {
      id,
      title: 'A task',
      description: `STAND-IN: ${JSON.stringify({ record, hang: 'deaf', grandchild: 'session' })}`,
    };
    const asked = other.ask({ agent: 'codex', capability: codeChange }, { root, task } as CodeChangeRequest, {
      timeoutMs: 600_000,
    });
    const failed = asked.catch((error: Failure) => error.code);
    const given = await until('it was started', () => givenTo(id));
    await other.stop();
    expect(await failed).not.toBeUndefined();
    await until('all are gone', () => startedWithMark(given.env['ORRERY_PROCESS'] as string).length === 0);
  });

  it('is given its own credentials, and no other secret', async () => {
    const { given } = await attempt('claude', {});
    expect(given.env).toMatchObject({ ANTHROPIC_API_KEY: SECRETS.ANTHROPIC_API_KEY, PWD: root });
    for (const name of ['DEPLOY_TOKEN', 'GIVEN_TOKEN', 'GIT_DIR']) expect(given.env).not.toHaveProperty(name);
    const { given: toCodex } = await attempt('codex', {});
    expect(toCodex.env).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  it('works at several tasks at a time, if its options say so', async () => {
    const all = await Promise.all([1, 2, 3].map(() => attempt('gemini', { tools: 2 })));
    for (const { outcome } of all) expect(outcome).toMatchObject({ summary: 'Done.', toolCalls: 2 });
  });

  it('marks its answer as come from outside', async () => {
    const taints: unknown[] = [];
    await attempt('claude', {}, {}, { onTaint: (taint) => taints.push(taint) });
    expect(taints).toContainEqual(['agent:claude']);
  });
});

describe('A coding agent that is any command', () => {
  const run = (script: string) => {
    const task = { id: 'p', title: 'A script', description: `SCRIPT: ${script}`, acceptance: [] };
    return system
      .ask({ agent: 'plain', capability: codeChange }, { root, task } as unknown as CodeChangeRequest, {
        timeoutMs: 600_000,
      })
      .catch((error: Failure) => error);
  };

  it('is told its task on standard input, and the end of what it prints is the summary', async () => {
    writeFileSync(join(root, 'old.txt'), 'old');
    expect(await run('mv old.txt new.txt; echo moved; echo $GIVEN_TOKEN')).toMatchObject({
      summary: 'moved\n[hidden]',
    });
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('old');
  });

  it('has failed when its exit code says so, whatever it prints', async () => {
    expect(await run('echo all tests pass; exit 2')).toMatchObject({
      code: 'HANDLER_FAILED',
      details: { exitCode: 2 },
    });
  });
});
