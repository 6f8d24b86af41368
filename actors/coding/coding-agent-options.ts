import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { AgentOptions } from '../../runtime/public.ts';
import { CodingLimits, CodingPermission } from './code-change.ts';
import { VariableName } from './program-env.ts';

const HOUR_MS = 3_600_000;
/** How much longer than its program an agent may take to stop: a family that was killed takes time to go, milliseconds. */
const STOP_MARGIN_MS = 15_000;

/** What is set of every coding agent, whatever its program speaks. */
export const CodingSettings = z.strictObject({
  env: z.array(VariableName).default([]),
  does: z
    .array(z.enum(['change', 'review']))
    .min(1)
    .default(['change', 'review']),
  limits: CodingLimits.default({}),
  permission: CodingPermission.default('run'),
  inactivityMs: Milliseconds.default(600_000),
  graceMs: Milliseconds.default(5_000),
});
export type CodingSettings = z.output<typeof CodingSettings>;

type Defaulted = 'name' | 'version' | 'description' | 'tier';

/** The options of an agent, of which a coding agent needs its id alone. */
export type CodingIdentity = Omit<AgentOptions, Defaulted> & Partial<Pick<AgentOptions, Defaulted>>;

/** The options that `schema` has, apart from the others. Throws INVALID_OPTIONS naming the first field at fault and its value. */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  options: CodingIdentity,
  root: string,
): { readonly own: z.output<Schema>; readonly identity: CodingIdentity } {
  if (typeof options !== 'object' || options === null) throw invalidOptions(root, options, 'options');
  const own: Record<string, unknown> = {};
  const identity: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(schema.shape, name)) identity[name] = value;
    else if (value !== undefined) own[name] = value;
  }
  return { own: parseOptions(schema, own, root), identity: identity as unknown as CodingIdentity };
}

/** What an agent is that runs `program`, which takes `endMs` to end once it is told to, milliseconds. */
export const agentOptionsOf = (
  identity: CodingIdentity,
  {
    program,
    limits,
    endMs,
  }: Pick<CodingSettings, 'limits'> & { readonly program: string; readonly endMs: number },
): AgentOptions => ({
  name: identity.id,
  version: '1.0.0',
  description: `A coding agent: ${program}`,
  tier: 3,
  // It keeps nothing between two attempts.
  onThrow: 'keep',
  handlingTimeoutMs: limits.timeoutMs ?? HOUR_MS,
  stopTimeoutMs: stopMs(endMs),
  ...identity,
});

/** How long an agent may take to stop whose program takes `endMs` to end. Both milliseconds. */
export const stopMs = (endMs: number): number => endMs + STOP_MARGIN_MS;
