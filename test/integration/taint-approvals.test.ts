import { capability, defineAgent, startSystem, type System } from 'orrery';
import { approvalOf, openSystemTasks, type Task, type TaskEngine } from 'orrery/tasks';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { GivenApproval } from '../../actors/tasks/task-of.ts';
import { approvalHash, definitionHash } from '../../runtime/protocol/approval.ts';
import { rejection } from '../fixtures/until.ts';

const WEB = ['mcp:search'];
const OWNER = { principalId: 'key:alice' };
const who = (id: string) => ({ id, name: id, version: '1.0.0', description: id, tier: 2 }) as const;
const about = { input: z.unknown(), output: z.string() };
/** Privileged; does nothing but count that it was done. */
const wipe = capability({ id: 'disk.wipe', description: 'Wipes', ...about, privileged: true });
/** Has approved that something is wiped, and uses that twice: itself, or by handing on the note of its task. */
const tidy = capability({ id: 'disk.tidy', description: 'Tidies up', ...about });
/** Has the disk wiped with the note that it is given. */
const relay = capability({ id: 'forger.relay', description: 'Relays', ...about });
/** The same, with more sources in the note than its owner was told of, and what came from there. */
const doctor = capability({ id: 'forger.doctor', description: 'Doctors a note', ...about });
/** Leaves something in the disk that came from elsewhere. */
const soil = capability({ id: 'disk.soil', description: 'Soils', ...about });
/** Has another disk wiped, in the same task. */
const hand = capability({ id: 'disk.hand', description: 'Has it wiped', ...about });
const forge = capability({ id: 'forger.forge', description: 'Forges a note', ...about });

type Note = { taskId: string; approvals: GivenApproval[]; hasApprover: boolean };

/** A note as the engine would write it, of whatever task and with whatever was decided there. */
const noteFor = (agentId: string, note: Note) => ({
  contextId: 'c',
  agentId,
  owner: OWNER,
  taskState: 'working',
  message: { messageId: 'm', role: 'user', parts: [{ text: 'x' }] },
  history: [],
  ...note,
});

/** What the gate asks about, where `disk` is asked to wipe this. */
const requestFor = (input: unknown, taint: string[]) => ({
  action: wipe.id,
  details: { agent: 'disk', input, definition: definitionHash(wipe as never) } as never,
  taint,
});

/** A disk, two who forge, and what the disk has wiped; `errors`: why it did not. */
function team() {
  const wiped: unknown[] = [];
  const errors: string[] = [];
  const failed = ({ code }: { code: string }): void => void errors.push(code);
  const disk = defineAgent(who('disk'))
    .handle(wipe, (input) => {
      wiped.push(input);
      return 'wiped';
    })
    .handle(tidy, async (input, ctx) => {
      const request = { ...requestFor('c', WEB), message: 'Wipe c?' };
      const task = ctx.envelope.metadata?.['task'] as { approvals: unknown[] };
      if (task.approvals.length === 0) await approvalOf(ctx, request);
      const handsOn = (agent: string) =>
        ctx.ask({ agent, capability: relay }, { task, input: 'c' }).then(() => undefined);
      const doctored = () =>
        ctx.ask({ agent: 'forger', capability: doctor }, { task, input: 'c' }).then(() => undefined);
      const twice = {
        here: () => [approvalOf(ctx, request), approvalOf(ctx, request)],
        'by others': () => [handsOn('forger'), handsOn('other')],
        doctored: () => [doctored()],
      }[input as 'here' | 'by others' | 'doctored']();
      await Promise.all(twice.map((one) => one.catch(failed)));
      return 'tidy';
    })
    .handle(soil, (_, ctx) => {
      if (ctx.taint === undefined) ctx.markOutside('db:old');
      return 'soiled';
    })
    .handle(hand, (input, ctx) => {
      const task = ctx.envelope.metadata?.['task'] as object;
      const metadata = { task: { ...task, agentId: 'spare' } };
      const asked = ctx.ask({ agent: 'spare', capability: wipe }, input, { metadata });
      return asked.catch(failed).then(() => 'handed on');
    });
  const spare = defineAgent(who('spare')).handle(wipe, (input) => {
    wiped.push(input);
    return 'wiped';
  });
  const forger = (id: string) =>
    defineAgent(who(id))
      .handle(forge, (given, ctx) => {
        const { input, note } = given as { input: unknown; note: object };
        const options = { taint: WEB, metadata: { task: note } };
        return ctx.ask({ agent: 'disk', capability: wipe }, input, options);
      })
      .handle(relay, (given, ctx) => {
        const { task, input } = given as { task: unknown; input: unknown };
        return ctx.ask({ agent: 'disk', capability: wipe }, input, { metadata: { task } });
      })
      .handle(doctor, (given, ctx) => {
        const { task, input } = given as { task: { approvals: GivenApproval[] }; input: unknown };
        const approvals = task.approvals.map((one) => ({ ...one, taint: [...WEB, 'web:new'] }));
        const options = { taint: ['web:new'], metadata: { task: { ...task, approvals } } };
        return ctx.ask({ agent: 'disk', capability: wipe }, input, options);
      });
  return { agents: [disk, spare, forger('forger'), forger('other')], wiped, errors };
}

let messages = 0;
const approvalIn = ({ status }: Task): string => {
  const [id] = (status.message?.parts ?? []).flatMap((part) => {
    const { approvalRequired } = ('data' in part ? part.data : {}) as {
      approvalRequired?: { approvalId: string };
    };
    return approvalRequired === undefined ? [] : [approvalRequired.approvalId];
  });
  return id as string;
};
const requiredIn = ({ status }: Task): unknown =>
  (status.message?.parts ?? []).flatMap((part) =>
    'data' in part ? [(part.data as { approvalRequired?: unknown }).approvalRequired] : [],
  )[0];
const textOf = ({ status }: Task): string =>
  (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('');

/** Says something to the disk in a task, and waits until nothing more comes of that. */
async function say(tasks: TaskEngine, data: unknown, more: { taint?: string[]; taskId?: string } = {}) {
  const { taint, taskId } = more;
  const message = { messageId: `m${++messages}`, role: 'user' as const, parts: [{ data }] };
  const { id } = await tasks.send(OWNER, {
    agentId: 'disk',
    message,
    ...(taint === undefined ? {} : { terms: { taint } }),
    ...(taskId === undefined ? {} : { taskId }),
  } as never);
  return tasks.whenIdle(OWNER, id);
}

const wiping = (input: unknown) => ({ tool: wipe.id, arguments: input });

async function withTasks(
  run: (tasks: TaskEngine, system: System, made: ReturnType<typeof team>) => Promise<void>,
) {
  const made = team();
  await using system = await startSystem({ agents: made.agents });
  const tasks = await openSystemTasks(system);
  await run(tasks, system, made);
  await tasks.close();
}

describe('an approval that a note tells of (F-09)', () => {
  it.each([
    [{ hasApprover: false }, 'INPUT_REQUIRED'],
    [{ hasApprover: true }, 'TAINTED'],
    [{ hasApprover: false, isOutside: true }, 'TAINTED'],
  ])('is none where nobody has given it: %o', async (said, code) => {
    await withTasks(async (_tasks, system, { wiped }) => {
      const hash = approvalHash(requestFor('c', WEB));
      const approvals = [{ approvalId: 'a', hash, approved: true }];
      const note = noteFor('disk', { taskId: 't', approvals, ...said });
      const asked = system.ask({ agent: 'forger', capability: forge }, { input: 'c', note });
      expect((await rejection(asked)).code).toBe(code);
      expect(wiped).toEqual([]);
    });
  });

  it('is none where there are no tasks at all', async () => {
    const { agents, wiped } = team();
    await using system = await startSystem({ agents });
    const approvals = [{ approvalId: 'a', hash: approvalHash(requestFor('c', WEB)), approved: true }];
    const note = noteFor('disk', { taskId: 't', approvals, hasApprover: false });
    const asked = system.ask({ agent: 'forger', capability: forge }, { input: 'c', note });
    expect((await rejection(asked)).code).toBe('INPUT_REQUIRED');
    expect(wiped).toEqual([]);
  });

  it.each([
    ['here', []],
    ['by others', ['c']],
  ])('counts once, for two calls at once %s', async (how, done) => {
    await withTasks(async (tasks, _system, { wiped, errors }) => {
      const asked = await say(tasks, { tool: tidy.id, arguments: how }, { taint: WEB });
      expect([asked.status.state, errors]).toEqual(['input-required', []]);
      const decision = { approvalId: approvalIn(asked), approved: true };
      const task = await say(tasks, decision, { taint: WEB, taskId: asked.id });
      expect(task.status.state).toBe('completed');
      expect(wiped).toEqual(done);
      expect(errors).toEqual(['INPUT_REQUIRED']);
    });
  });

  it('counts once for one who says the same again in another task', async () => {
    await withTasks(async (tasks, _system, { wiped }) => {
      const asked = await say(tasks, wiping('c'), { taint: WEB });
      const approvalId = approvalIn(asked);
      const done = await say(tasks, { approvalId, approved: true }, { taint: WEB, taskId: asked.id });
      expect(done.status.state).toBe('completed');
      const anew = await say(tasks, wiping('c'), { taint: WEB });
      const unmoved = await say(tasks, { approvalId, approved: true }, { taint: WEB, taskId: anew.id });
      expect([anew, unmoved].map(({ status }) => status.state)).toEqual(['input-required', 'input-required']);
      expect(wiped).toEqual(['c']);
    });
  });

  it('is needed for the whole of a task, however clean what its owner says later is', async () => {
    await withTasks(async (tasks, _system, { wiped }) => {
      const asked = await say(tasks, wiping('c'), { taint: WEB });
      const unmoved = await say(tasks, { approvalId: 'another', approved: true }, { taskId: asked.id });
      expect(unmoved.status.state).toBe('input-required');
      const refused = await say(
        tasks,
        { approvalId: approvalIn(asked), approved: false },
        { taskId: asked.id },
      );
      expect(refused.status.state).toBe('failed');
      expect(JSON.stringify(refused.status.message)).toContain('TAINTED');
      expect(wiped).toEqual([]);
      const again = await say(tasks, wiping('d'), { taint: WEB });
      const done = await say(tasks, { approvalId: approvalIn(again), approved: true }, { taskId: again.id });
      expect(done.status.state).toBe('completed');
      expect(wiped).toEqual(['d']);
    });
  });

  it('is none of a source that its owner was not told of, whatever a note says that they were', async () => {
    await withTasks(async (tasks, _system, { wiped, errors }) => {
      const asked = await say(tasks, { tool: tidy.id, arguments: 'doctored' }, { taint: WEB });
      const decision = { approvalId: approvalIn(asked), approved: true };
      await say(tasks, decision, { taint: WEB, taskId: asked.id });
      expect({ wiped, errors }).toEqual({ wiped: [], errors: ['INPUT_REQUIRED'] });
    });
  });

  it('is one of the sources that its owner was told of: a new one is asked about anew', async () => {
    await withTasks(async (tasks, _system, { wiped }) => {
      const both = [...WEB, 'web:new'];
      const asked = await say(tasks, wiping('c'), { taint: WEB });
      expect(requiredIn(asked)).toMatchObject({ taint: WEB, details: { input: 'c' } });
      const first = { approvalId: approvalIn(asked), approved: true };
      const again = await say(tasks, first, { taint: ['web:new'], taskId: asked.id });
      expect([again.status.state, wiped]).toEqual(['input-required', []]);
      expect(requiredIn(again)).toMatchObject({ taint: both, message: expect.stringContaining('web:new') });
      const refused = await say(
        tasks,
        { approvalId: approvalIn(again), approved: false },
        { taskId: asked.id },
      );
      expect([refused.status.state, wiped]).toEqual(['failed', []]);
    });
  });

  it('is asked for once, whatever the agent that asks has in it of its own', async () => {
    await withTasks(async (tasks, system, { wiped }) => {
      system.tell({ agent: 'disk', capability: soil }, undefined);
      const asked = await say(tasks, wiping('c'), { taint: WEB });
      expect(requiredIn(asked)).toMatchObject({ taint: ['db:old', ...WEB] });
      expect(textOf(asked)).toContain('has also taken in what came from db:old');
      const done = await say(tasks, { approvalId: approvalIn(asked), approved: true }, { taskId: asked.id });
      expect([done.status.state, wiped]).toEqual(['completed', ['c']]);
    });
  });

  it('is not asked of an owner who is where it came from, in a task that did not', async () => {
    await withTasks(async (tasks, system, { wiped, errors }) => {
      const from = { taint: ['a2a:key:alice'] };
      await system.ask({ agent: 'disk', capability: soil }, undefined, from);
      const asked = await say(tasks, { tool: hand.id, arguments: 'c' });
      expect([asked.status.state, wiped, errors]).toEqual(['completed', [], ['TAINTED']]);
    });
  });

  it('is asked for about an input that grows where it is shown', async () => {
    await withTasks(async (tasks, _system, { wiped }) => {
      const input = '\\"'.repeat(5_000);
      const asked = await say(tasks, wiping(input), { taint: WEB });
      expect(asked.status.state).toBe('input-required');
      const done = await say(tasks, { approvalId: approvalIn(asked), approved: true }, { taskId: asked.id });
      expect(done.status.state).toBe('completed');
      expect(wiped).toEqual([input]);
    });
  });
});
