import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SoundRule } from '../rules/compile-rule.ts';
import { Rule } from '../rules/rule.ts';
import { storedText, storedTextIfAny } from '../skill-text.ts';

/** The layers of policies, the most general first. */
export const POLICY_LAYERS = ['company', 'org', 'team', 'project'] as const;

export const PolicyLayer = z.enum(POLICY_LAYERS);
export type PolicyLayer = z.infer<typeof PolicyLayer>;

/** What is found by no policy in particular is told as of this one, which nobody can put. */
export const GOVERNANCE = 'governance';

const MOST_RULES = 100;
/** How long a policy may be, as JSON. */
const MOST_CHARS = 65_536;

const ID = 'an id of 1 to 200 letters, digits and . _ : @ / -';
export const PolicyId = z.string(ID).regex(/^[\w.:@/-]{1,200}$/, ID);

/** The name of an organisation, a team or a project; '' is all of them. */
export const Scope = storedTextIfAny(200);

/**
 * Rules under one name.
 *
 * - `layer`, `scope` for whom it is: a whole company, an organisation, a team, a project. @default scope '': all of that layer
 * - `mode`           `mandatory` holds for all below, whatever they say. @default 'optional'
 * - `mergeStrategy`  what it does to a policy of the same id above it: takes its place (`override`), adds its rules, replacing those
 *                    with the same ids (`merge`), or keeps of its own rules those whose ids are above too (`intersect`). Of what is
 *                    mandatory above it can change nothing; under `merge` it adds rules with ids of their own. @default 'override'
 */
export const Policy = z
  .strictObject({
    id: PolicyId.refine((id) => id !== GOVERNANCE, `an id other than "${GOVERNANCE}"`),
    name: storedText(1_000),
    description: storedTextIfAny(10_000).optional(),
    layer: PolicyLayer,
    scope: Scope.default(''),
    mode: z.enum(['optional', 'mandatory']).default('optional'),
    mergeStrategy: z.enum(['override', 'merge', 'intersect']).default('override'),
    rules: z.array(SoundRule).max(MOST_RULES).readonly(),
  })
  .superRefine((policy, ctx) => {
    const { layer, scope, rules } = policy;
    const fault = (path: string, message: string): void =>
      ctx.addIssue({ code: 'custom', path: [path], message, input: policy });
    if (layer === 'company' && scope !== '') fault('scope', 'no scope in the layer company, which is one');
    if (new Set(rules.map(({ id }) => id)).size < rules.length) fault('rules', 'rules with different ids');
    if (JSON.stringify(policy).length > MOST_CHARS) fault('rules', `at most ${MOST_CHARS} characters in all`);
  });
export type Policy = z.infer<typeof Policy>;

/** A policy that was put, and parsed then: its patterns are not compiled again. */
export const KeptPolicy = z.strictObject({ ...Policy.shape, rules: z.array(Rule).readonly() });

/** Tells what a policy says from what it said before: 64 hexadecimal digits, the same for the same mode and rules. */
export const policyVersion = ({ id, mode, rules }: Pick<Policy, 'id' | 'mode' | 'rules'>): string =>
  createHash('sha256')
    .update(JSON.stringify([id, mode, rules]))
    .digest('hex');
