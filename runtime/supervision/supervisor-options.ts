import { z } from 'zod';
import { BackOff } from '../protocol/back-off.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { Milliseconds } from '../protocol/milliseconds.ts';

/**
 * - `intervalMs` how often each thread is sampled.
 * - `stallMs`    how long a beat may stand still. A loop is found about `intervalMs` later at most.
 * - `hangMs`     after this time a starved thread is reported again, and a sample without an answer is asked for again.
 */
export const WatchdogOptions = z.strictObject({
  intervalMs: z.number().positive().default(100),
  stallMs: z.number().positive().default(400),
  hangMs: z.number().positive().default(10_000),
});
export type WatchdogOptions = z.input<typeof WatchdogOptions>;
/** The options with their defaults. */
export type WatchdogLimits = z.output<typeof WatchdogOptions>;

/**
 * When starting is given up: only if nothing happens, or a module does not end. A lack of processor time is no reason.
 *
 * - `quietMs`   how long a thread, a process or the journal may do nothing while it starts or loads a module: it says
 *               nothing and uses no processor time. @default 30,000
 * - `computeMs` processor time that a module may use without a pause while it is loaded. @default 30,000
 */
export const StartingOptions = z.strictObject({
  quietMs: Milliseconds.default(30_000),
  computeMs: Milliseconds.default(30_000),
});
export type StartingOptions = z.input<typeof StartingOptions>;

/**
 * How many restarts a group may need before its supervisor gives up.
 *
 * - `maxRestarts` restarts that are allowed within the window; 0 means that the first death is the last.
 * - `withinMs`    length of the sliding window.
 */
export const RestartIntensity = z.strictObject({
  maxRestarts: z.int().nonnegative().default(3),
  withinMs: z.number().positive().default(60_000),
});
export type RestartIntensity = z.infer<typeof RestartIntensity>;

/** As in OTP: always restarted, only after an abnormal end, or never. */
export const Restart = z.enum(['permanent', 'transient', 'temporary']);
export type Restart = z.infer<typeof Restart>;

/** Who is restarted with an agent that died: nobody else, its whole group, or the agents started after it. */
export const Strategy = z.enum(['one-for-one', 'one-for-all', 'rest-for-one']);
export type Strategy = z.infer<typeof Strategy>;

/** How long a group that was given up waits before it is tried again, longer each time; false: until somebody restarts it. */
const HalfOpen = z.union([BackOff, z.literal(false)], { error: 'a back-off, or false' });

/**
 * How the deaths of one agent are answered, if no group names it. Each field replaces the supervisor's own.
 *
 * - `intensity` how many restarts it may need before it is given up.
 * - `backOff`   how long it waits before it is restarted again; the first restart in a row is immediate.
 * - `halfOpen`  how long it waits when it was given up before it is tried again, longer each time; `false`: until `restart`.
 */
export const AgentSupervision = z.strictObject({
  intensity: RestartIntensity.optional(),
  backOff: BackOff.optional(),
  halfOpen: HalfOpen.optional(),
});
export type AgentSupervision = z.output<typeof AgentSupervision>;

/**
 * Agents that are supervised together. They are started in the order of `agents`.
 *
 * - `strategy`             @default 'one-for-one'
 * - `intensity`, `backOff`, `halfOpen` replace the supervisor's own for this group.
 */
export const SupervisionGroup = z.strictObject({
  name: z.string().min(1),
  agents: z.array(z.string().min(1)).min(1),
  strategy: Strategy.default('one-for-one'),
  ...AgentSupervision.shape,
});
export type SupervisionGroup = z.infer<typeof SupervisionGroup>;

/**
 * How deaths are answered. An agent that no group names is supervised alone.
 *
 * - `halfOpen` how long agents that were given up wait before they are tried again, longer each time; the first death after
 *              that gives them up again. `false`: they wait for `restart`.
 * - `refusal`  how long an agent refuses an outsider over whose requests it has died more often than the intensity of its group
 *              allows; longer each time.
 */
export const SupervisorOptions = z.strictObject({
  groups: z.array(SupervisionGroup).default([]),
  intensity: RestartIntensity.prefault({}),
  backOff: BackOff.prefault({}),
  halfOpen: HalfOpen.prefault({ firstMs: 30_000, maxMs: 3_600_000 }),
  refusal: BackOff.prefault({ firstMs: 10_000, maxMs: 3_600_000, factor: 2, jitter: 0 }),
});
export type SupervisorOptions = z.input<typeof SupervisorOptions>;
/** The options with their defaults. No agent is in two groups. */
export type Supervision = z.output<typeof SupervisorOptions>;

/** The options with their defaults; throws INVALID_OPTIONS naming field and value. */
export function parseSupervisorOptions(options: SupervisorOptions): Supervision {
  const parsed = parseOptions(SupervisorOptions, options, 'supervision');
  requireUnique(
    'supervision.groups.name',
    parsed.groups.map(({ name }) => name),
  );
  requireUnique(
    'supervision.groups.agents',
    parsed.groups.flatMap(({ agents }) => agents),
  );
  return parsed;
}

function requireUnique(field: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw invalidOptions(field, name, 'a name that stands there once');
    seen.add(name);
  }
}
