import { z } from 'zod';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Behalf } from '../../runtime/public.ts';
import { SwarmLimits } from './swarm-options.ts';
import { planOf, subTasksOf } from './swarm-plan.ts';
import type { SwarmRecord, SwarmWork } from './swarm-record.ts';
import type { CreateSwarmOptions } from './swarms.ts';

const Text = z.string().min(1);

/** What is said of a new swarm beside its limits and its plan. */
const About = z.strictObject({
  input: z.unknown().optional(),
  sharedState: z.record(z.string(), z.unknown()).default({}),
  correlationId: Text.optional(),
  estimatedComplexity: z.enum(['simple', 'medium', 'complex']).default('medium'),
  escalationJustification: Text.optional(),
});

/** What is wanted, of whom, and when. */
export interface NewSwarm {
  readonly id: string;
  readonly ownerId: string;
  readonly nowMs: number;
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
  readonly options: CreateSwarmOptions;
  readonly work?: SwarmWork | undefined;
  readonly behalf?: Behalf | undefined;
}

/** The record of a swarm that begins. Rejects with INVALID_OPTIONS naming field and value, and with what a planner throws. */
export async function newRecord(wanted: NewSwarm): Promise<SwarmRecord> {
  const { id, ownerId, nowMs, taskDescription, requiredCapabilities, work, behalf } = wanted;
  const { plan, signal: _signal, ...rest } = wanted.options;
  const { input, sharedState, correlationId, estimatedComplexity, escalationJustification, ...others } = rest;
  const given = { input, sharedState, correlationId, estimatedComplexity, escalationJustification };
  const about = parseOptions(About, given, 'swarm');
  const limits = parseOptions(SwarmLimits, others, 'swarm');
  const parts = await planOf({ taskDescription, requiredCapabilities }, plan);
  const subTasks = subTasksOf(parts, {
    taskDescription,
    input: 'input' in rest ? input : { taskDescription },
  });
  return {
    session: {
      id,
      taskDescription,
      participants: [],
      subTasks,
      status: 'recruiting',
      sharedState: about.sharedState,
      createdAt: nowMs,
      ownerId,
      correlationId: about.correlationId ?? id,
      stateVersion: 0,
    },
    limits,
    complexity: about.estimatedComplexity,
    ...(escalationJustification === undefined ? {} : { justification: escalationJustification }),
    team: [],
    heardAtMs: {},
    ...(work === undefined ? {} : { work }),
    ...(behalf === undefined ? {} : { behalf }),
  };
}
