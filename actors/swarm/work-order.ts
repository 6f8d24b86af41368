import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { WorkOrder } from './swarm-reach.ts';
import { subTaskIn, type SwarmRecord } from './swarm-record.ts';
import type { SwarmSubTask } from './swarm-session.ts';

/** How long work may take at most in a swarm that has no deadline: its lease is what ends it, long before. */
const MAX_WORK_MS = 86_400_000;

/** The assignment that stands, as it is handed to its agent. */
export function workOrderOf(record: SwarmRecord, subTaskId: string, nowMs: number): WorkOrder {
  const { session, limits, justification, behalf } = record;
  const subTask = subTaskIn(record, subTaskId) as SwarmSubTask;
  const { epoch, assignedAgent, capability, requiredCapabilities, description, partial } = subTask;
  return {
    swarmId: session.id,
    correlationId: session.correlationId,
    subTaskId,
    epoch,
    agentId: assignedAgent,
    capability,
    requiredCapabilities,
    description,
    input: inputOf(subTask, session.sharedState),
    partial: partial?.value,
    taint: taintOf(record, subTask),
    behalf,
    justification,
    leaseMs: limits.leaseMs,
    deadlineAtMs: limits.timeoutMs === undefined ? nowMs + MAX_WORK_MS : session.createdAt + limits.timeoutMs,
  };
}

/** Where the results came from that it is given. */
function taintOf(record: SwarmRecord, { taint, partial, inputFrom }: SwarmSubTask): Taint | undefined {
  const own = partial === undefined ? undefined : taint;
  return Object.values(inputFrom).reduce(
    (all: Taint | undefined, id) => mergeTaint(all, subTaskIn(record, id)?.taint),
    own,
  );
}

/** The input of the sub-task, with the results of others and the last partial result where the plan wants them. */
function inputOf(
  { input, inputFrom, partial, resumeAs }: SwarmSubTask,
  sharedState: Readonly<Record<string, unknown>>,
): unknown {
  const results = Object.entries(inputFrom).map(([field, id]) => [field, sharedState[id]] as const);
  const resumed = resumeAs === undefined || partial === undefined ? [] : [[resumeAs, partial.value] as const];
  if (results.length + resumed.length === 0) return input;
  const given = typeof input === 'object' && input !== null ? input : {};
  return { ...given, ...Object.fromEntries([...results, ...resumed]) };
}
