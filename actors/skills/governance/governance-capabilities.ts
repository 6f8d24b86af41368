import { z } from 'zod';
import { capability } from '../../../runtime/protocol/capability.ts';
import { RuleContext } from '../rules/rule-context.ts';
import { Severity } from '../rules/rule.ts';
import { StoredName, storedText } from '../skill-text.ts';
import { DriftResult, Validation } from './governance-results.ts';
import { KeptPolicy, Policy, PolicyId, PolicyLayer, Scope } from './policy.ts';
import { NewSuppression, Suppression } from './suppression.ts';

const Scopes = z
  .strictObject({ org: StoredName.optional(), team: StoredName.optional(), project: StoredName.optional() })
  .describe('Whose policies hold beside those of all: of which organisation, team and project');

const Context = RuleContext.describe(
  'What is known: files, dependencies, imports, config; or path and content of a file',
);

const limit = (most: number) => z.int().min(1).max(most);

const Kept = z.strictObject({
  policy: KeptPolicy,
  policyVersion: z.string(),
  author: z.string(),
  updatedAt: z.int(),
});

const Which = z.strictObject({
  policyId: PolicyId.describe('The id of the policy'),
  layer: PolicyLayer.optional(),
  scope: Scope.optional(),
});

/** Checks a context by the policies of a layer and of those above it. */
export const governanceValidate = capability({
  id: 'governance_validate',
  name: 'Validate by policies',
  description: 'Checks a context by the policies that hold in a layer, and says what breaks them',
  input: z.strictObject({
    context: Context,
    layer: PolicyLayer.default('project'),
    scopes: Scopes.optional(),
    minSeverity: Severity.default('info'),
  }),
  output: Validation,
  readOnly: true,
});

const MOST_VERSIONS = 500;

const DriftContext = RuleContext.safeExtend({
  policyVersions: z
    .record(z.string().max(200), z.string().max(200))
    .refine((versions) => Object.keys(versions).length <= MOST_VERSIONS, `at most ${MOST_VERSIONS} versions`)
    .describe(
      'By which versions of policies the project goes: by their ids, as governance_validate tells them',
    )
    .optional(),
}).describe('What is known of the project, as for governance_validate');

/** Says how far a project has drifted from its policies, and keeps that. */
export const governanceDriftCheck = capability({
  id: 'governance_drift_check',
  name: 'Check for drift',
  description:
    'Says how far a project has drifted from its policies: a score, what breaks them, and what is suppressed',
  input: z.strictObject({
    project: StoredName.describe('The id of the project'),
    context: DriftContext,
    scopes: Scopes.omit({ project: true }).optional(),
    threshold: z.number().min(0).max(1).default(0.2),
    autoSuppressInfo: z.boolean().default(false),
  }),
  output: DriftResult,
  idempotent: true,
});

export const governanceDriftList = capability({
  id: 'governance_drift_list',
  name: 'List drift',
  description: 'What came of checking a project for drift, the newest first',
  input: z.strictObject({
    project: StoredName.describe('The id of the project'),
    limit: limit(50).default(20),
  }),
  output: z.strictObject({ results: z.array(DriftResult).readonly() }),
  readOnly: true,
});

export const governancePolicyPut = capability({
  id: 'governance_policy_put',
  name: 'Put a policy',
  description: 'Adds a policy to its layer, or puts it in the place of the one with its id',
  input: z.strictObject({ policy: Policy }),
  output: Kept.extend({
    changesNothing: z.boolean().describe('A mandatory policy above it stands, and this one does nothing'),
  }),
  idempotent: true,
});

export const governancePolicyList = capability({
  id: 'governance_policy_list',
  name: 'List policies',
  description:
    'The policies as they were put, by id; those that hold somewhere are told by governance_validate',
  input: z.strictObject({
    layer: PolicyLayer.optional(),
    scope: Scope.optional(),
    limit: limit(500).default(100),
  }),
  output: z.strictObject({ policies: z.array(Kept).readonly() }),
  readOnly: true,
});

export const governancePolicyShow = capability({
  id: 'governance_policy_show',
  name: 'Show a policy',
  description: 'A policy as it was put; asks for the layer where several have its id',
  input: Which,
  output: Kept,
  readOnly: true,
});

export const governancePolicyRemove = capability({
  id: 'governance_policy_remove',
  name: 'Remove a policy',
  description: 'Removes a policy from its layer; asks for the layer where several have its id',
  input: Which,
  output: z.strictObject({ removed: z.boolean() }),
  destructive: true,
  idempotent: true,
});

export const governanceSuppress = capability({
  id: 'governance_suppress',
  name: 'Suppress violations',
  description: 'Has violations of a policy not count as drift until it expires',
  input: NewSuppression,
  output: Suppression,
  idempotent: true,
});

export const governanceUnsuppress = capability({
  id: 'governance_unsuppress',
  name: 'End a suppression',
  description: 'Has violations count again',
  input: z.strictObject({ suppressionId: storedText(300) }),
  output: z.strictObject({ removed: z.boolean() }),
  idempotent: true,
});

export const governanceSuppressions = capability({
  id: 'governance_suppressions',
  name: 'List suppressions',
  description: 'Which violations do not count, and until when; the newest first',
  input: z.strictObject({ limit: limit(500).default(100) }),
  output: z.strictObject({
    suppressions: z.array(Suppression.extend({ isExpired: z.boolean() })).readonly(),
  }),
  readOnly: true,
});
