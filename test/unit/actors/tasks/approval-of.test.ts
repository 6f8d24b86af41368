import { describe, expect, it } from 'vitest';
import { approvalOf } from '../../../../actors/tasks/approvals.ts';
import type { TaskNote } from '../../../../actors/tasks/task-of.ts';
import { approvalHash } from '../../../../runtime/protocol/approval.ts';
import type { HandlingContext } from '../../../../runtime/public.ts';
import { rejection } from '../../../fixtures/until.ts';

const wipe = { action: 'disk.wipe', details: { disk: 'c' }, message: 'Wipe c?' };
const given = (hash: string, approved = true) => ({ approvalId: `of ${hash} ${approved}`, hash, approved });

/** The context of an agent in a task of whose owner this was decided. */
function contextOf(approvals: TaskNote['approvals'], agentId = 'mars') {
  const reports: unknown[] = [];
  const message = { messageId: 'm', role: 'user', parts: [{ text: 'x' }] };
  const about = { taskId: 't', contextId: 'c', owner: { principalId: 'a' }, taskState: 'working' };
  const task = { ...about, agentId, message, history: [], approvals, hasApprover: false };
  const ctx = {
    self: 'mars',
    envelope: { metadata: { task } },
    newId: () => 'id',
    report: (report: unknown) => reports.push(report),
    ask: () => Promise.resolve({ approved: false, reason: 'asked outside' }),
  };
  return { ctx: ctx as unknown as HandlingContext, reports };
}

describe('What an agent wants to have approved (C-24)', () => {
  it('is approved by a decision about exactly that, once, whatever the message says', async () => {
    const { ctx, reports } = contextOf([given(approvalHash(wipe))]);
    expect((await rejection(approvalOf(ctx, { ...wipe, details: { disk: 'd' } }))).code).toBe(
      'INPUT_REQUIRED',
    );
    expect((await rejection(approvalOf(ctx, { ...wipe, action: 'disk.read' }))).code).toBe('INPUT_REQUIRED');
    expect(reports).toEqual([]);
    await approvalOf(ctx, { ...wipe, message: 'In other words' });
    expect(reports).toMatchObject([{ task: { n: 1, usedApproval: expect.any(String) } }]);
    expect((await rejection(approvalOf(ctx, wipe))).code).toBe('INPUT_REQUIRED');
  });

  it('is approved from the sources that were told, and refused from whatever sources', async () => {
    const hash = approvalHash(wipe);
    const told = { taint: ['web:a', 'web:b'] };
    const { ctx } = contextOf([{ ...given(hash), ...told }]);
    const from = (...taint: string[]) => approvalOf(ctx, { ...wipe, taint });
    expect((await rejection(from('web:b', 'web:c'))).code).toBe('INPUT_REQUIRED');
    await from('web:b');
    const refusing = contextOf([{ ...given(hash, false), ...told }]);
    const refused = rejection(approvalOf(refusing.ctx, { ...wipe, taint: ['web:c'] }));
    expect((await refused).code).toBe('NOT_PERMITTED');
    // What was asked without a word of sources is from none.
    const silent = contextOf([given(hash)]);
    const asked = rejection(approvalOf(silent.ctx, { ...wipe, taint: ['web:a'] }));
    expect((await asked).code).toBe('INPUT_REQUIRED');
  });

  it('is refused by one, which is used up as well', async () => {
    const hash = approvalHash(wipe);
    const { ctx } = contextOf([given(hash, false), given(hash)]);
    expect((await rejection(approvalOf(ctx, wipe))).code).toBe('NOT_PERMITTED');
    await approvalOf(ctx, wipe);
  });

  it('is not approved by what is known of the task of another agent', async () => {
    const { ctx } = contextOf([given(approvalHash(wipe))], 'venus');
    expect(await rejection(approvalOf(ctx, wipe))).toMatchObject({
      code: 'NOT_PERMITTED',
      message: expect.stringContaining('asked outside'),
    });
  });

  it.each([
    [{ ...wipe, action: '' }, 'request.action'],
    [{ ...wipe, details: { at: new Date() } as never }, 'request.details'],
    [{ ...wipe, message: 'x'.repeat(20_000) }, 'approval'],
  ])('is something that can be asked', async (request, field) => {
    const failed = await rejection(approvalOf(contextOf([]).ctx, request));
    expect(failed).toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringContaining(field) });
  });
});
