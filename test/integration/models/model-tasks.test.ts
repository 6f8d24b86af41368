import { capability, defineAgent, type Team } from 'orrery';
import { answer, modelAgent } from 'orrery/models';
import {
  approvalOf,
  inputRequired,
  openSystemTasks,
  type Task,
  type TaskEngine,
  taskOf,
  type TaskMessage,
} from 'orrery/tasks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { called } from '../../fixtures/agents/counting-words.ts';
import type { ChatRequest } from '../../fixtures/model-server.ts';
import { endTeams, type ModelTeam, modelTeam } from '../../fixtures/model-team.ts';
import { until } from '../../fixtures/until.ts';

const OWNER = { principalId: 'key:alice', tenant: 'acme' };
const Text = z.object({ text: z.string() });
const book = capability({ id: 'book', description: 'Books', input: Text, output: z.string() });
const remove = capability({ id: 'remove', description: 'Removes', input: Text, output: z.string() });

/** Two tools whose agent has questions of its own, and shows what it makes. */
const desk = defineAgent({ id: 'desk', name: 'DESK', version: '1.0.0', description: 'Asks back', tier: 3 })
  .handle(book, ({ text }, ctx) => {
    const task = taskOf(ctx);
    if (task?.answer === undefined) {
      if (task !== undefined) task.state = { asked: text };
      throw inputRequired(`When is ${text} to be?`);
    }
    task.artifact({ artifactId: 'ticket', parts: [{ text: `a ticket for ${text}` }] });
    return `${text} on ${String(task.answer)}, kept ${JSON.stringify(task.state)}`;
  })
  .handle(remove, async ({ text }, ctx) => {
    await approvalOf(ctx, { action: 'remove', details: { text }, message: `Remove ${text}?` });
    return `${text} is gone`;
  });

const soil = capability({
  id: 'soil',
  description: 'Leaves something',
  input: z.object({}),
  output: z.string(),
});
const open = capability({
  id: 'open',
  description: 'Opens',
  input: Text,
  output: z.string(),
  privileged: true,
});
const opened: string[] = [];

/** A tool that is privileged, of an agent that may have something from outside in it. */
const vault = defineAgent({ id: 'vault', name: 'VAULT', version: '1.0.0', description: 'Is shut', tier: 3 })
  .handle(soil, (_, ctx) => {
    ctx.markOutside('db:old');
    return 'soiled';
  })
  .handle(open, ({ text }) => {
    opened.push(text);
    return `${text} is open`;
  });

let system: Team;
let tasks: TaskEngine;
let messages = 0;

beforeAll(async () => {
  await using team = await modelTeam([]);
  system = team.system;
  await system.start([desk, vault]);
  tasks = await openSystemTasks(system);
});
afterAll(async () => {
  await tasks.close();
  await endTeams();
});

const messageOf = (...parts: TaskMessage['parts']): TaskMessage => ({
  messageId: `m${++messages}`,
  role: 'user',
  parts,
});
const say = (team: ModelTeam & { luna: string }, text: string, taskId?: string): Promise<Task> =>
  tasks.send(OWNER, {
    agentId: team.luna,
    message: messageOf({ text }),
    ...(taskId === undefined ? {} : { taskId }),
  });
const idle = async (team: ModelTeam & { luna: string }, text: string, taskId?: string): Promise<Task> =>
  tasks.whenIdle(OWNER, (await say(team, text, taskId)).id);
/** The same, of what came from outside. */
async function says(team: ModelTeam & { luna: string }, text: string, taint: readonly string[]) {
  const message = messageOf({ text });
  const { id } = await tasks.send(OWNER, { agentId: team.luna, message, terms: { taint } } as never);
  return tasks.whenIdle(OWNER, id);
}
const textsOf = (task: Task): string[] =>
  task.artifacts.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '?')).join(''));
const questionOf = ({ status }: Task): string =>
  (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('');
/** The owner says so of what the task waits for. */
async function decided({ id, status }: Task, agentId: string, approved: boolean): Promise<Task> {
  const data = status.message?.parts.find((part) => 'data' in part)?.data as {
    approvalRequired: { approvalId: string };
  };
  const { approvalId } = data.approvalRequired;
  await tasks.send(OWNER, { agentId, taskId: id, message: messageOf({ data: { approvalId, approved } }) });
  return tasks.whenIdle(OWNER, id);
}
const toolsSaid = (request: ChatRequest | undefined): (string | null)[] =>
  (request?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => content);

describe('A model at a task', () => {
  it('takes plain text, and shows what it says as it says it', async () => {
    const gate = Promise.withResolvers<void>();
    await using team = await modelTeam([{ text: 'Once upon a time', pieces: 5, gate: gate.promise }]);
    const { id } = await say(team, 'a story');
    await until('some of it is shown', async () =>
      textsOf(await tasks.get(OWNER, id))
        .join('')
        .startsWith('Once'),
    );
    expect((await tasks.get(OWNER, id)).status.state).toBe('working');
    gate.resolve();
    const task = await tasks.whenIdle(OWNER, id);
    expect(task.status.state).toBe('completed');
    expect(textsOf(task)).toEqual(['Once upon a time']);
    expect(team.server.requests[0]?.body.messages[1]?.content).toBe('a story');
  });

  it('fails with the code of what its provider does', async () => {
    await using team = await modelTeam([{ status: 401 }]);
    const task = await idle(team, 'a story');
    expect(task.status.state).toBe('failed');
    expect(JSON.stringify(task.status.message)).toContain('REMOTE_FAILED');
  });

  it('is cancelled down to the request', async () => {
    await using team = await modelTeam([{ text: 'Once', hangs: 'after' }]);
    const { id } = await say(team, 'a story');
    const request = await team.server.came(0);
    await tasks.cancel(OWNER, id);
    await request.closed;
    expect((await tasks.whenIdle(OWNER, id)).status.state).toBe('canceled');
  });
});

describe('A tool that asks for something first', () => {
  const calling = (name: string, text: string, id: string) => ({
    id,
    name: `desk__${name}`,
    args: JSON.stringify({ text }),
  });

  it('has the owner of the task asked, and is called again with the answer, not the others', async () => {
    await using team = await modelTeam(
      [
        {
          text: 'I book it',
          calls: [
            calling('book', 'dinner', 'a'),
            { id: 'b', name: 'words__words_count', args: '{"text":"one two"}' },
          ],
        },
        { text: 'It is booked' },
      ],
      { tools: ['desk.*', 'words.words.count'] },
    );
    const asked = await idle(team, 'book dinner');
    expect(asked.status.state).toBe('input-required');
    expect(questionOf(asked)).toContain('When is dinner to be?');
    expect(team.server.requests).toHaveLength(1);
    const done = await idle(team, 'Monday', asked.id);
    expect(done.status.state).toBe('completed');
    const second = team.server.requests[1]?.body;
    expect(toolsSaid(second).sort()).toEqual(['2', 'dinner on Monday, kept {"asked":"dinner"}']);
    expect(second?.messages[1]?.content).toBe('book dinner');
    expect(textsOf(done)).toContain('a ticket for dinner');
    expect(textsOf(done)).toContain('It is booked');
  });

  it('asks once for each of several, one after the other', async () => {
    await using team = await modelTeam(
      [
        { calls: [calling('book', 'lunch', 'a'), calling('book', 'dinner', 'b')] },
        { text: 'Both are booked' },
      ],
      { tools: ['desk.*'] },
    );
    const first = await idle(team, 'book both');
    expect(questionOf(first)).toContain('lunch');
    const second = await idle(team, 'Monday', first.id);
    expect(questionOf(second)).toContain('dinner');
    const done = await idle(team, 'Tuesday', first.id);
    expect(done.status.state).toBe('completed');
    expect(toolsSaid(team.server.requests[1]?.body).map((text) => text?.split(',')[0])).toEqual([
      'lunch on Monday',
      'dinner on Tuesday',
    ]);
    expect(team.server.requests).toHaveLength(2);
  });

  it.each([
    [true, 'the attic is gone'],
    [false, 'NOT_PERMITTED'],
  ])('has what it does approved by the owner (%s)', async (approved, said) => {
    await using team = await modelTeam([{ calls: [calling('remove', 'the attic', 'a')] }, { text: 'Done' }], {
      tools: ['desk.*'],
    });
    const asked = await idle(team, 'remove the attic');
    expect(asked.status.state).toBe('input-required');
    expect(questionOf(asked)).toContain('Remove the attic?');
    const done = await decided(asked, team.luna, approved);
    expect(done.status.state).toBe('completed');
    expect(toolsSaid(team.server.requests[1]?.body)[0]).toContain(said);
  });

  it('is read by the model where there is no task', async () => {
    await using team = await modelTeam([{ calls: [calling('book', 'dinner', 'a')] }, { text: 'When?' }], {
      tools: ['desk.*'],
    });
    const answered = capability({ id: 'answer', description: 'x', input: z.unknown(), output: z.string() });
    expect(await system.ask({ agent: team.luna, capability: answered }, { prompt: 'book dinner' })).toBe(
      'When?',
    );
    expect(toolsSaid(team.server.requests[1]?.body)[0]).toContain('INPUT_REQUIRED');
  });
});

describe('What came from outside (F-09)', () => {
  const page = { id: 'p', name: 'words__words_page', args: '{}' };
  const erase = (id: string) => ({ id, name: 'words__words_erase', args: '{"text":"all"}' });
  const options = { tools: ['words.words.page', 'words.words.erase'] };

  it('sticks to the model that read it: what is privileged refuses it, and the model reads why', async () => {
    called.clear();
    await using team = await modelTeam(
      [{ calls: [page] }, { calls: [erase('e')] }, { text: 'I could not' }],
      options,
    );
    const taints: unknown[] = [];
    const target = { agent: team.luna, capability: answer };
    expect(await system.ask(target, { prompt: 'x' }, { onTaint: (taint) => taints.push(taint) })).toBe(
      'I could not',
    );
    expect(JSON.parse(toolsSaid(team.server.requests[2]?.body)[1] ?? '')).toMatchObject({
      code: 'TAINTED',
      agentId: 'words',
    });
    expect(taints).toContainEqual(['web:evil.example']);
    // Also in the next work, which says nothing of a page.
    team.server.script([{ calls: [erase('f')] }, { text: 'nor now' }]);
    expect(await system.ask(target, { prompt: 'y' })).toBe('nor now');
    expect(toolsSaid(team.server.requests.at(-1)?.body)[0]).toContain('TAINTED');
    expect(called.get('erase') ?? 0).toBe(0);
  });

  it.each([true, false])(
    'is let through once where the owner of the task approves it (%s)',
    async (approved) => {
      called.clear();
      await using team = await modelTeam(
        [{ calls: [page] }, { calls: [erase('e')] }, { text: 'so be it' }],
        options,
      );
      const asked = await idle(team, 'erase what the page says');
      expect(asked.status.state).toBe('input-required');
      expect(questionOf(asked)).toContain('web:evil.example');
      expect(called.get('erase') ?? 0).toBe(0);
      const done = await decided(asked, team.luna, approved);
      expect(done.status.state).toBe('completed');
      expect(called.get('erase') ?? 0).toBe(approved ? 1 : 0);
      expect(toolsSaid(team.server.requests[2]?.body)[1]).toContain(approved ? 'all is erased' : 'TAINTED');
    },
  );

  describe('is approved once for one call', () => {
    const opens = (text: string) => ({ id: 'o', name: 'vault__open', args: JSON.stringify({ text }) });
    const tools = { tools: ['words.words.page', 'vault.open'] };

    it('though the model has heard more by the time that its owner answers: its owner was told of it', async () => {
      opened.length = 0;
      await system.ask({ agent: 'vault', capability: soil }, {});
      await using team = await modelTeam(
        [{ calls: [page] }, { calls: [opens('the door')] }, { text: 'it is open' }],
        tools,
      );
      const asked = await idle(team, 'do what the page says');
      expect(questionOf(asked)).toContain('web:evil.example');
      expect(questionOf(asked)).toContain('db:old');
      const done = await decided(asked, team.luna, true);
      expect([done.status.state, opened]).toEqual(['completed', ['the door']]);
      expect(toolsSaid(team.server.requests[2]?.body)[1]).toContain('the door is open');
    });

    it('though what else it called at once answers after it', async () => {
      opened.length = 0;
      await using team = await modelTeam(
        [{ calls: [opens('a window'), page] }, { text: 'it is open' }],
        tools,
      );
      const asked = await says(team, 'open a window', ['mcp:search']);
      expect(questionOf(asked)).toContain('mcp:search');
      expect(questionOf(asked)).toContain('web:evil.example');
      const done = await decided(asked, team.luna, true);
      expect([done.status.state, opened]).toEqual(['completed', ['a window']]);
    });

    it('and anew, where it has taken in something since that its owner was not told of', async () => {
      opened.length = 0;
      await using team = await modelTeam([{ calls: [page] }, { calls: [opens('the safe')] }], tools);
      const asked = await idle(team, 'do what the page says');
      team.server.script([{ text: 'I see' }, { text: 'so be it' }]);
      const target = { agent: team.luna, capability: answer };
      await system.ask(target, { prompt: 'open the safe' }, { taint: ['web:later.example'] });
      const again = await decided(asked, team.luna, true);
      expect([again.status.state, opened]).toEqual(['input-required', []]);
      expect(questionOf(again)).toContain('web:later.example');
      const done = await decided(again, team.luna, true);
      expect([done.status.state, opened]).toEqual(['completed', ['the safe']]);
    });
  });

  it('is still in a conversation that goes on in another life of the agent', async () => {
    called.clear();
    const book = { id: 'b', name: 'desk__book', args: '{"text":"dinner"}' };
    await using team = await modelTeam([{ calls: [page, book] }, { calls: [erase('e')] }, { text: 'no' }], {
      tools: [...options.tools, 'desk.book'],
    });
    const asked = await idle(team, 'book what the page says');
    expect(questionOf(asked)).toContain('When is dinner to be?');
    await system.stopAgent(team.luna);
    await system.restart(team.luna);
    const next = await idle(team, 'Monday', asked.id);
    expect(questionOf(next)).toContain('web:evil.example');
    expect(called.get('erase') ?? 0).toBe(0);
  });
});

describe('A model in a swarm', () => {
  it('does its part as everybody else does', async () => {
    const summary = capability({
      id: 'text.summary',
      description: 'Summarises',
      input: Text,
      output: z.object({ summary: z.string() }),
    });
    await using team = await modelTeam([{ text: '{"summary":"short"}' }]);
    const model = { baseUrl: team.server.url, model: 'm' };
    await system.start([
      modelAgent({ id: 'summing', name: 'SUMMING', model, instructions: 'Sum up.', capabilities: [summary] }),
    ]);
    const { id } = await system.swarms.createSwarm('Look at a text', [summary.id, 'words.count'], {
      input: { text: 'a long text' },
    });
    const { status, results } = await system.swarms.outcome(id);
    expect({ status, results }).toEqual({
      status: 'completed',
      results: { 'text.summary': { summary: 'short' }, 'words.count': 3 },
    });
  });
});
