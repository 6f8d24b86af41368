import { describe, expect, it } from 'vitest';
import { orderOf } from '../../../../actors/swarm/live-assignments.ts';
import { newRecord } from '../../../../actors/swarm/swarm-plan.ts';
import { withSubTask } from '../../../../actors/swarm/swarm-record.ts';
import type { CreateSwarmOptions } from '../../../../actors/swarm/swarms.ts';
import { rejection } from '../../../fixtures/until.ts';
import { assigned, completed } from './swarm-records.ts';

const record = (
  requiredCapabilities: readonly string[],
  options: CreateSwarmOptions = {},
  taskDescription = 'T',
) => newRecord({ id: '1@o', ownerId: 'o', nowMs: 5, taskDescription, requiredCapabilities, options });

describe('Planning (C-29)', () => {
  it('makes one sub-task a required capability when there is no plan', async () => {
    const { session } = await record(['types.check', 'docs.write', 'types.check']);
    expect(session.subTasks).toMatchObject([
      {
        id: 'types.check',
        requiredCapabilities: ['types.check'],
        capability: 'types.check',
        status: 'pending',
      },
      { id: 'docs.write', requiredCapabilities: ['docs.write'], assignedAgent: '', epoch: 0 },
    ]);
    expect(session).toMatchObject({ id: '1@o', status: 'recruiting', correlationId: '1@o', createdAt: 5 });
    expect(session.subTasks[0]?.input).toEqual({ taskDescription: 'T' });
  });

  it('takes sub-tasks, and what makes them', async () => {
    const plan = [
      { requiredCapabilities: ['a', 'b'], capability: 'b', input: { n: 1 } },
      { requiredCapabilities: ['a'] },
    ];
    const expected = [
      { id: 'task-1', requiredCapabilities: ['a', 'b'], capability: 'b', input: { n: 1 } },
      { id: 'task-2', requiredCapabilities: ['a'], capability: 'a', input: 'all' },
    ];
    const given = await record(['a', 'b'], { plan, input: 'all' });
    expect(given.session.subTasks).toMatchObject(expected);
    const seen: unknown[] = [];
    const planned = await record(['a', 'b'], {
      input: 'all',
      plan: async (task) => {
        seen.push(task);
        return plan;
      },
    });
    expect(planned.session.subTasks).toMatchObject(expected);
    expect(seen).toEqual([{ taskDescription: 'T', requiredCapabilities: ['a', 'b'] }]);
  });

  it.each([
    ['a task without words', [['a'], {}, ''], 'taskDescription is ""'],
    ['no capability', [[]], 'requiredCapabilities is []'],
    ['an empty plan', [['a'], { plan: [] }], 'plan is []'],
    [
      'a sub-task without capabilities',
      [['a'], { plan: [{ requiredCapabilities: [] }] }],
      'plan[0].requiredCapabilities',
    ],
    [
      'a handler of another capability',
      [['a'], { plan: [{ requiredCapabilities: ['a'], capability: 'b' }] }],
      'plan[0].capability is "b"',
    ],
    [
      'an id twice',
      [
        ['a'],
        {
          plan: [
            { id: 'x', requiredCapabilities: ['a'] },
            { id: 'x', requiredCapabilities: ['a'] },
          ],
        },
      ],
      'plan[1].id is "x"',
    ],
    [
      'an id that is no field',
      [['a'], { plan: [{ id: '__proto__', requiredCapabilities: ['a'] }] }],
      'plan[0].id is "__proto__"',
    ],
    [
      'a dependency on nothing',
      [['a'], { plan: [{ requiredCapabilities: ['a'], dependsOn: ['y'] }] }],
      'plan[0].dependsOn is "y"',
    ],
    [
      'a circle',
      [
        ['a'],
        {
          plan: [
            { id: 'x', requiredCapabilities: ['a'], dependsOn: ['y'] },
            { id: 'y', requiredCapabilities: ['a'], inputFrom: { f: 'x' } },
          ],
        },
      ],
      'plan is "x, y"',
    ],
    ['a lease of nothing', [['a'], { leaseMs: 0 }], 'swarm.leaseMs is 0'],
    ['an option that is none', [['a'], { lease: 5 } as CreateSwarmOptions], 'swarm.lease is 5'],
  ] as [string, Parameters<typeof record>, string][])(
    'refuses %s, naming field and value',
    async (_what, given, told) => {
      const { code, message } = await rejection(record(...given));
      expect(code).toBe('INVALID_OPTIONS');
      expect(message).toContain(told);
    },
  );

  it('passes on what a planner throws', async () => {
    await expect(record(['a'], { plan: () => Promise.reject(new Error('no idea')) })).rejects.toThrow(
      'no idea',
    );
  });

  it('hands results of other sub-tasks, and the last partial result, to whom the plan says', async () => {
    const plan = [
      { id: 'find', requiredCapabilities: ['a'] },
      {
        id: 'judge',
        requiredCapabilities: ['b'],
        input: { strict: true },
        inputFrom: { findings: 'find' },
        resumeAs: 'soFar',
      },
    ];
    const begun = await record(['a', 'b'], { plan });
    expect(begun.session.subTasks[1]?.dependsOn).toEqual(['find']);
    const found = completed(assigned(begun, 'find', 'one', 6), 'find', ['f1'], 7);
    const first = assigned(found, 'judge', 'two', 8);
    expect(orderOf(first, 'judge', 8).input).toEqual({ strict: true, findings: ['f1'] });
    const kept = withSubTask(first, 'judge', {
      partial: { agentId: 'two', epoch: 1, value: { seen: 3 }, atMs: 9 },
    });
    expect(orderOf(kept, 'judge', 9)).toMatchObject({
      input: { strict: true, findings: ['f1'], soFar: { seen: 3 } },
      partial: { seen: 3 },
    });
  });
});
