import { expect } from 'vitest';
import type { SwarmOutcome } from '../../../../actors/swarm/swarm-outcome.ts';
import type { SwarmSession } from '../../../../actors/swarm/swarm-session.ts';

/** What has to be true of a swarm whenever it can be seen. */
export function checkPicture({
  subTasks,
  participants,
  sharedState,
  stateVersion,
  status,
}: SwarmSession): void {
  const done = subTasks.filter((one) => one.status === 'completed');
  for (const agentId of participants)
    expect(subTasks.some((one) => one.assignedAgent === agentId)).toBe(true);
  expect(stateVersion).toBe(done.length);
  expect(sharedState).toEqual(Object.fromEntries(done.map(({ id, result }) => [id, result])));
  if (status === 'completed') expect(done).toHaveLength(subTasks.length);
  for (const { id, status: at, assignedAgent, epoch, assignments, result } of subTasks) {
    expect(assignments.map((one) => one.epoch)).toEqual(assignments.map((_, index) => index + 1));
    expect(epoch).toBe(assignments.length);
    const open = assignments.filter(({ end }) => end === undefined);
    expect(open.length).toBe(at === 'running' ? 1 : 0);
    if (at === 'running') expect(open[0]).toMatchObject({ epoch, agentId: assignedAgent });
    // Whoever failed it or stalled over it does not get it again.
    const barred = new Set<string>();
    for (const { agentId, end } of assignments) {
      expect(barred.has(agentId)).toBe(false);
      if (end === 'failed' || end === 'stalled') barred.add(agentId);
    }
    const applied = assignments.filter(({ end }) => end === 'completed');
    expect(applied.length).toBe(at === 'completed' ? 1 : 0);
    if (at === 'completed')
      expect(result).toEqual({ subTaskId: id, agentId: assignedAgent, epoch: applied[0]?.epoch });
  }
}

/** What changes, changes once. */
export function checkStep(before: SwarmSession, after: SwarmSession): void {
  after.subTasks.forEach((now, at) => {
    const was = before.subTasks[at] as (typeof after.subTasks)[number];
    if (was.status === 'completed')
      expect(now).toEqual({ ...was, lates: now.lates, assignments: now.assignments });
    if (was.status === 'failed') expect(now.status).toBe('failed');
    expect(now.lates.length).toBeGreaterThanOrEqual(was.lates.length);
  });
}

export function checkOutcome(outcome: SwarmOutcome): void {
  const { status, subTasks, results, isEscalated, error } = outcome;
  expect(isEscalated).toBe(status === 'failed');
  for (const one of subTasks) {
    expect(['completed', 'failed']).toContain(one.status);
    if (one.status === 'completed') expect(results[one.id]).toEqual(one.result);
    else expect(one.error).toBeDefined();
  }
  if (status === 'completed') expect(subTasks.every((one) => one.status === 'completed')).toBe(true);
  else expect(error).toBeDefined();
}
