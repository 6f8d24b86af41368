import { POLICY_LAYERS, type Policy, type PolicyLayer } from './policy.ts';

/** Of which organisation, team and project something is. Where one is absent, only what is of all in that layer holds. */
export type Scopes = Readonly<Partial<Record<PolicyLayer, string | undefined>>>;

/**
 * A policy as it holds somewhere.
 *
 * - `mandatoryAt` the layer from which on it is mandatory; absent for an optional one.
 */
export interface ResolvedPolicy extends Pick<Policy, 'id' | 'name' | 'mode' | 'rules'> {
  readonly description?: string | undefined;
  readonly mandatoryAt?: PolicyLayer;
}

/**
 * The policies that hold in a layer, with what the layers above it say: company, organisation, team, project, and in each what is of
 * all before what is of one. Those of one id are laid on each other, as the strategy of the lower says. What is mandatory stays as it
 * is, with what lower ones add to it, which then is mandatory as well.
 */
export function resolvePolicies(
  policies: readonly Policy[],
  target: PolicyLayer,
  scopes: Scopes,
): readonly ResolvedPolicy[] {
  const resolved = new Map<string, ResolvedPolicy>();
  for (const policy of [...policies].filter(holdsIn(target, scopes)).toSorted(generalFirst))
    resolved.set(policy.id, laidOn(resolved.get(policy.id), policy));
  return [...resolved.values()];
}

const depthOf = (layer: PolicyLayer): number => POLICY_LAYERS.indexOf(layer);

const holdsIn =
  (target: PolicyLayer, scopes: Scopes) =>
  ({ layer, scope }: Policy): boolean =>
    depthOf(layer) <= depthOf(target) && (scope === '' || scope === scopes[layer]);

/** Whether what is said there holds for all that is said by the other. */
export const isAbove = (
  { layer, scope }: Pick<Policy, 'layer' | 'scope'>,
  other: Pick<Policy, 'layer' | 'scope'>,
): boolean =>
  scope === '' && (layer === other.layer ? other.scope !== '' : depthOf(layer) < depthOf(other.layer));

const generalFirst = (one: Policy, other: Policy): number =>
  depthOf(one.layer) - depthOf(other.layer) || Number(one.scope !== '') - Number(other.scope !== '');

function laidOn(upper: ResolvedPolicy | undefined, policy: Policy): ResolvedPolicy {
  const lower = alone(policy);
  const { mergeStrategy } = policy;
  if (upper === undefined) return lower;
  if (upper.mode === 'mandatory')
    return mergeStrategy === 'merge'
      ? { ...upper, rules: [...upper.rules, ...without(lower, upper)] }
      : upper;
  if (mergeStrategy === 'override') return lower;
  if (mergeStrategy === 'merge') return { ...lower, rules: [...without(upper, lower), ...lower.rules] };
  return { ...lower, rules: lower.rules.filter(({ id }) => hasRule(upper, id)) };
}

function alone({ id, name, description, mode, layer, rules }: Policy): ResolvedPolicy {
  return {
    id,
    name,
    ...(description === undefined ? {} : { description }),
    mode,
    ...(mode === 'mandatory' ? { mandatoryAt: layer } : {}),
    rules,
  };
}

/** The rules of one whose ids are not in the other. */
const without = (one: ResolvedPolicy, other: ResolvedPolicy): ResolvedPolicy['rules'] =>
  one.rules.filter(({ id }) => !hasRule(other, id));

const hasRule = ({ rules }: ResolvedPolicy, id: string): boolean => rules.some((rule) => rule.id === id);
