import type { RestartIntensity } from './restart-intensity.ts';

/** Why an agent has failed, as a sentence with the facts: how many restarts, in what window, and the last error. */
export function describeGivingUp(
  group: { readonly name: string | undefined; readonly intensity: RestartIntensity },
  agentId: string,
  death: { readonly culprit: string; readonly lastError: string | undefined },
): string {
  const { maxRestarts, withinMs } = group.intensity;
  const whose = group.name === undefined ? '' : `group "${group.name}": `;
  const limit = `${maxRestarts} ${maxRestarts === 1 ? 'restart' : 'restarts'} within ${withinMs / 1_000} s, no more are allowed`;
  const by = death.culprit === agentId ? '' : ` (${death.culprit})`;
  return `${whose}${limit}; last error${by}: ${death.lastError ?? 'none, it ended by itself'}`;
}
