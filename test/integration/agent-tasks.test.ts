import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Capability, startSystem, type System } from 'orrery';
import {
  approveWith,
  openSystemTasks,
  type Task,
  type TaskEngine,
  type TaskMessage,
  type TaskTerms,
} from 'orrery/tasks';
import type { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalHash } from '../../runtime/protocol/approval.ts';
import * as clerking from '../fixtures/agents/clerking.ts';
import { clerk } from '../fixtures/agents/clerking.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const OWNER = { principalId: 'key:alice', tenant: 'acme' };
const folder = mkdtempSync(join(tmpdir(), 'orrery-tasks-'));
const chief = clerk('chief', { tier: 1 });
const insider = clerk('insider', { sandboxId: 'yard' });
let system: System;
let tasks: TaskEngine;
let messages = 0;

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('clerk', { isolation: 'thread' as const, instances: ['thread-clerk'] }),
      agent('clerk', {
        isolation: 'process' as const,
        instances: ['process-clerk'],
        permissions: { write: [folder] },
      }),
      chief,
      insider,
    ],
  });
  tasks = await openSystemTasks(system);
});
afterAll(async () => {
  await tasks.close();
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Words = TaskMessage['parts'][number] | string;
const messageOf = (...words: Words[]): TaskMessage => ({
  messageId: `m${++messages}`,
  role: 'user',
  parts: words.map((word) => (typeof word === 'string' ? { text: word } : word)),
});
const call = <Input>(wanted: Capability<Input, unknown, unknown, unknown>, input: Input) => ({
  data: { tool: wanted.id, arguments: input as z.core.util.JSONType },
});

interface Sending {
  readonly agentId?: string;
  readonly taskId?: string;
  readonly terms?: Partial<z.input<typeof TaskTerms>>;
}
const send = (words: Words[], { agentId = 'thread-clerk', taskId, terms }: Sending = {}): Promise<Task> =>
  tasks.send(OWNER, {
    agentId,
    message: messageOf(...words),
    ...(taskId === undefined ? {} : { taskId }),
    ...(terms === undefined ? {} : { terms }),
  });
const done = async (words: Words[], sending: Sending = {}): Promise<Task> =>
  tasks.whenIdle(OWNER, (await send(words, sending)).id);
const textsOf = (parts: readonly object[] = []): unknown[] =>
  parts.map((part) => ('text' in part ? part.text : 'data' in part ? part.data : part));
const madeOf = (task: Task): unknown[] => task.artifacts.flatMap(({ parts }) => textsOf(parts));
const saidOf = ({ status }: Task): unknown[] => textsOf(status.message?.parts);

describe.each(['thread-clerk', 'process-clerk'])('An agent that works at tasks: %s', (agentId) => {
  it('is given plain text under its default capability (C-38, X-50, A-07)', async () => {
    const task = await done(['hello'], { agentId });
    expect(task).toMatchObject({ status: { state: 'completed' }, artifacts: [{ name: 'clerk.echo' }] });
    expect(madeOf(task)).toEqual(['hello!']);
  });

  it('is asked for the capability that a data part names, by either name (C-38, L-18)', async () => {
    const input = { city: 'Rome', seats: 2 };
    expect(madeOf(await done([call(clerking.book, input)], { agentId }))).toEqual([{ booked: '2 to Rome' }]);
    const named = { data: { tool: `${agentId}.clerk.book`, arguments: input } };
    expect(madeOf(await done([named], { agentId }))).toEqual([{ booked: '2 to Rome' }]);
  });

  it('works at a message of its own for each content that comes under one id, and an event tells of it', async () => {
    const told: unknown[] = [];
    const stop = await system.inspect(({ reason }) => told.push(reason));
    const messageId = `reused-${agentId}`;
    const sent: Task[] = [];
    for (const text of ['one', 'two', 'one']) {
      const message = { messageId, role: 'user' as const, parts: [{ text }] };
      sent.push(await tasks.send(OWNER, { agentId, message }));
    }
    const [one, two, again] = sent as [Task, Task, Task];
    expect([again.id === one.id, two.id === one.id]).toEqual([true, false]);
    expect(madeOf(await tasks.whenIdle(OWNER, one.id))).toEqual(['one!']);
    expect(madeOf(await tasks.whenIdle(OWNER, two.id))).toEqual(['two!']);
    const reason = `The message id "${messageId}" came again with other content: that is a message of its own`;
    await until('an event tells of it', () => told.includes(reason));
    await stop();
  });

  it('has its owner asked for what is missing, and nothing more (A-09, X-51)', async () => {
    const first = await done([{ data: { tool: clerking.book.id, arguments: {} } }], { agentId });
    expect(first.status.state).toBe('input-required');
    expect(saidOf(first)).toMatchObject([
      'Booking needs city (where to), seats (how many)',
      { inputRequired: { capability: 'clerk.book', fields: [{ name: 'city' }, { name: 'seats' }] } },
    ]);
    const second = await done([{ data: { city: 'Rome' } }], { agentId, taskId: first.id });
    expect(saidOf(second)[0]).toBe('Booking needs seats (how many)');
    const third = await done(['3'], { agentId, taskId: first.id });
    expect(third.status.state).toBe('completed');
    expect(madeOf(third)).toEqual([{ booked: '3 to Rome' }]);
  });

  it('fails the task over arguments of the wrong kind, with code and message (A-20)', async () => {
    const task = await done([{ data: { tool: clerking.book.id, arguments: { city: 4, seats: 1 } } }], {
      agentId,
    });
    expect(task.status.state).toBe('failed');
    expect(saidOf(task)[1]).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('city'),
    });
  });

  it('fails it with UNAUTHORIZED where it may not (A-06), and with its own code else', async () => {
    const failed = async (code: string) =>
      saidOf(await done([call(clerking.deny, { code })], { agentId }))[1];
    expect(await failed('NOT_PERMITTED')).toEqual({
      code: 'UNAUTHORIZED',
      reason: 'NOT_PERMITTED',
      message: 'it may not be',
    });
    expect(await failed('REFUSED')).toEqual({ code: 'REFUSED', message: 'it may not be' });
  });

  it('shows what it streams chunk by chunk, the last one marked', async () => {
    const { id } = await done([call(clerking.count, { to: 40 })], { agentId });
    const chunks: { text: unknown; append: boolean; lastChunk: boolean }[] = [];
    for await (const change of tasks.changes(OWNER, id))
      if (change.kind === 'artifact')
        chunks.push({
          text: textsOf(change.artifact.parts)[0],
          append: change.append,
          lastChunk: change.lastChunk,
        });
    expect(chunks).toEqual(
      Array.from({ length: 40 }, (_, at) => ({ text: `${at + 1}`, append: at > 0, lastChunk: at === 39 })),
    );
    expect(tasks.get(OWNER, id).artifacts).toHaveLength(1);
    const broken = await done([call(clerking.count, { to: 9, failsAt: 3 })], { agentId });
    expect(broken.status.state).toBe('failed');
    expect(madeOf(broken)).toEqual(['1', '2']);
  });

  it('gives bytes as they are', async () => {
    const raw = 'AQID';
    const bytes = await done([call(clerking.photo, { as: 'bytes' })], { agentId });
    expect(bytes.artifacts[0]?.parts).toEqual([{ raw, mediaType: 'application/octet-stream' }]);
    const file = await done([call(clerking.photo, { as: 'file' })], { agentId });
    expect(file.artifacts[0]?.parts).toEqual([{ raw, mediaType: 'image/png', filename: 'a.png' }]);
  });

  it('tells how far it is, and learns that it is cancelled; what it kept is shown (A-10, X-27, C-11)', async () => {
    const file = join(folder, `cancelled-${agentId}`);
    const { id } = await send([call(clerking.linger, { file })], { agentId });
    const progress = await until('it tells how far it is', () => {
      const { message, state } = tasks.get(OWNER, id).status;
      return state === 'working' && message;
    });
    expect(textsOf(progress.parts)[0]).toMatch(/^step \d+$/);
    expect(progress.metadata).toEqual({ progress: expect.any(Number) });
    const cancelled = await tasks.cancel(OWNER, id);
    expect(cancelled.status.state).toBe('canceled');
    expect(madeOf(cancelled)).toEqual([{ steps: expect.any(Number) }]);
    await until('it knows', () => linesOf(file).length > 0);
    expect(linesOf(file)).toEqual(['aborted']);
  });

  it('is stopped at the deadline of its terms, and the task fails (F-04)', async () => {
    const file = join(folder, `late-${agentId}`);
    // It has kept something by then, on a busy machine too.
    const terms = { deadlineAtMs: Date.now() + 3_000 };
    const task = await done([call(clerking.linger, { file })], { agentId, terms });
    expect(task.status.state).toBe('failed');
    expect(saidOf(task)[1]).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(madeOf(task)).toEqual([{ steps: expect.any(Number) }]);
    await until('it knows', () => linesOf(file).length > 0);
  });

  it('works under the terms of the message: deadline, budget, path, justification (F-04, F-05)', async () => {
    const path = [{ agent: 'elsewhere', capability: 'x', envelopeId: 'e1' }];
    const deadlineAtMs = Date.now() + 60_000;
    const budget = { tokens: 50, hops: 2 };
    const task = await done([call(clerking.terms, {})], {
      agentId,
      terms: { deadlineAtMs, budget, path, justification: 'because' },
    });
    expect(madeOf(task)).toEqual([
      { correlationId: task.contextId, deadlineAtMs, budget, path, escalationJustification: 'because' },
    ]);
    const loop = [{ agent: agentId, capability: clerking.terms.id, envelopeId: 'e1' }];
    expect((await rejection(send([call(clerking.terms, {})], { agentId, terms: { path: loop } }))).code).toBe(
      'PATH_LOOP',
    );
  });

  it('asks, remembers, says and shows things of its own in its task (X-51, A-08)', async () => {
    const first = await done([call(clerking.interview, {})], { agentId });
    expect(first.status.state).toBe('input-required');
    expect(saidOf(first)).toEqual(['What is your name?']);
    expect(first.history.map(({ parts }) => textsOf(parts)[0])).toContain('a few questions');
    const second = await done(['Ada'], { agentId, taskId: first.id });
    expect(saidOf(second)).toMatchObject([
      'How old are you?',
      { inputRequired: { schema: { type: 'integer' } } },
    ]);
    const again = await done(['very'], { agentId, taskId: first.id });
    expect(again.status.state).toBe('input-required');
    expect(saidOf(again)[0]).toContain('How old are you?');
    const last = await done(['36'], { agentId, taskId: first.id });
    expect(last.status.state).toBe('completed');
    expect(madeOf(last)).toEqual(['name: ', 'Ada', 'Ada is 36, says key:alice in 4 messages']);
  });

  it('waits until something is proved', async () => {
    const first = await done([call(clerking.login, {})], { agentId });
    expect(first.status).toMatchObject({ state: 'auth-required' });
    const last = await done([{ data: { token: 't' } }], { agentId, taskId: first.id });
    expect(madeOf(last)).toEqual(['{"token":"t"}']);
  });

  it('does what has to be approved when its owner has approved exactly that, once (C-24)', async () => {
    const file = join(folder, `wiped-${agentId}`);
    const asked = await done([call(clerking.wipe, { disk: 'c', file, times: 2 })], { agentId });
    const approvalOf = (task: Task) =>
      (saidOf(task)[1] as { approvalRequired: { approvalId: string } }).approvalRequired;
    expect(approvalOf(asked)).toEqual({
      approvalId: expect.any(String),
      action: 'disk.wipe',
      details: { disk: 'c', kind: 'all' },
      message: 'Wipe c?',
    });
    const taskId = asked.id;
    const decide = (approvalId: string, approved: boolean) =>
      done([{ data: { approvalId, approved } }], { agentId, taskId });
    const unmoved = await done(['yes, please'], { agentId, taskId });
    expect([unmoved.status.state, linesOf(file)]).toEqual(['input-required', []]);
    expect((await decide('another', true)).status.state).toBe('input-required');
    expect(linesOf(file)).toEqual([]);
    const second = await decide(approvalOf(asked).approvalId, true);
    // It wants to do it twice: that is another approval.
    expect([second.status.state, linesOf(file)]).toEqual(['input-required', ['c']]);
    expect(approvalOf(second).approvalId).not.toBe(approvalOf(asked).approvalId);
    const refused = await decide(approvalOf(second).approvalId, false);
    expect(saidOf(refused)).toMatchObject([expect.any(String), { code: 'UNAUTHORIZED' }]);
    expect(linesOf(file)).toEqual(['c']);
  });

  it('is refused what nobody can approve, outside of a task (C-24)', async () => {
    const file = join(folder, `outside-${agentId}`);
    const asked = system.ask({ agent: agentId, capability: clerking.wipe }, { disk: 'd', file });
    expect((await rejection(asked)).code).toBe('NOT_PERMITTED');
    expect(linesOf(file)).toEqual([]);
    const asks = await system.ask({ agent: agentId, capability: clerking.interview }, {});
    expect(asks).toBe('no task');
  });
});

describe('A message to an agent, before a task is made of it', () => {
  const size = () => tasks.size;

  it('is refused when it names no capability that there is, with the choices (C-38)', async () => {
    const before = size();
    const failed = await rejection(send([{ data: { tool: 'clerk.fly', arguments: {} } }]));
    expect(failed).toMatchObject({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('clerk.book') });
    expect((await rejection(send(['hello'], { agentId: 'nobody' }))).code).toBe('AGENT_NOT_FOUND');
    expect(size()).toBe(before);
  });

  it('is judged by the tier of its terms, as a security event (C-31, N-P16)', async () => {
    const before = size();
    const codeOf = async (terms: Sending['terms'] = {}) =>
      (await rejection(send(['hello'], { agentId: 'chief', terms }))).code;
    expect(await codeOf()).toBe('ESCALATION_REQUIRED');
    expect(await codeOf({ tier: 2 })).toBe('ESCALATION_REQUIRED');
    expect((await rejection(send(['hello'], { terms: { tier: 1 } }))).code).toBe('TIER_VIOLATION');
    expect((await rejection(send(['hello'], { agentId: 'insider' }))).code).toBe('SANDBOX_VIOLATION');
    expect(size()).toBe(before);
    const events = (await system.recentEvents()).filter(
      ({ security, sender }) => security && sender === OWNER.principalId,
    );
    expect(events.map(({ errorCode }) => errorCode).filter((code) => code !== 'PATH_LOOP')).toEqual([
      'ESCALATION_REQUIRED',
      'ESCALATION_REQUIRED',
      'TIER_VIOLATION',
      'SANDBOX_VIOLATION',
    ]);
    const told = await done(['hello'], { agentId: 'chief', terms: { justification: 'it burns' } });
    expect(madeOf(told)).toEqual(['hello!']);
  });

  it('may ask only for what changes nothing, where its terms say so (X-24)', async () => {
    const terms = { readOnly: true };
    expect(await rejection(send(['hello'], { terms }))).toMatchObject({
      code: 'NOT_PERMITTED',
      message: expect.stringContaining('readOnly'),
    });
    expect(madeOf(await done([call(clerking.look, {})], { terms }))).toEqual(['seen']);
  });
});

describe('A system with somebody who approves (C-24)', () => {
  const file = join(folder, 'approved');
  const asked: unknown[] = [];
  let undo: () => void;
  beforeAll(async () => {
    undo = await approveWith(system, async (request, asker) => {
      asked.push([request, asker]);
      await Promise.resolve();
      if (request.message.includes('no')) throw new Error('not that one');
      return request.message.includes('c') || { approved: false, reason: 'too dear' };
    });
  });
  afterAll(() => undo());

  it.each(['thread-clerk', 'process-clerk'])(
    'has what %s wants decided while it waits, in a task or not',
    async (agentId) => {
      asked.length = 0;
      const task = await done([call(clerking.wipe, { disk: 'c', file, times: 2 })], { agentId });
      expect(task.status.state).toBe('completed');
      const request = { action: 'disk.wipe', details: { disk: 'c', kind: 'all' }, message: 'Wipe c?' };
      const asker = { agentId, taskId: task.id };
      expect(asked).toEqual([
        [request, asker],
        [request, asker],
      ]);
      const capability = clerking.wipe;
      expect(await system.ask({ agent: agentId, capability }, { disk: 'c', file })).toBe('c is wiped');
      expect(asked.at(-1)).toEqual([request, { agentId }]);
      const wiped = linesOf(file).length;
      for (const [disk, why] of [
        ['a', 'too dear'],
        ['no', 'not that one'],
      ] as const)
        expect(await rejection(system.ask({ agent: agentId, capability }, { disk, file }))).toMatchObject({
          code: 'NOT_PERMITTED',
          message: expect.stringContaining(why),
        });
      expect(linesOf(file)).toHaveLength(wiped);
    },
  );

  it('does not take one request for another of the same action', async () => {
    const requests = [
      { action: 'a', details: { x: 1, y: [1, { z: 2 }] } },
      { action: 'a', details: { x: 2, y: [1, { z: 2 }] } },
      { action: 'b', details: { x: 1, y: [1, { z: 2 }] } },
      { action: 'a', details: { x: 1, y: [{ z: 2 }, 1] } },
      { action: 'a', details: null },
    ];
    expect(new Set(requests.map(approvalHash)).size).toBe(requests.length);
    const turned = { action: 'a', details: { y: [1, { z: 2 }], x: 1 } };
    expect(approvalHash(turned)).toBe(approvalHash(requests[0] as typeof turned));
  });
});

describe('Tasks whose engine is closed', () => {
  it('are stopped where they are worked at', async () => {
    const file = join(folder, 'closed');
    const other = await openSystemTasks(system);
    const message = messageOf(call(clerking.linger, { file }));
    const { id } = await other.send(OWNER, { agentId: 'process-clerk', message });
    await until('it is worked at', () => other.get(OWNER, id).status.message !== undefined);
    await other.close();
    await until('it knows', () => linesOf(file).length > 0);
  });
});
