/**
 * The ids of the states that a machine is in, by the names it says them with (`pending.open`, of parallel regions
 * `a.b c.d`): each, and all that it is in.
 */
export function activeStates(state: string): {
  readonly leaves: ReadonlySet<string>;
  readonly around: ReadonlySet<string>;
} {
  const leaves = new Set<string>();
  const around = new Set<string>();
  for (const name of state.split(' ').filter((one) => one !== '')) {
    leaves.add(name);
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1))
      around.add(name.slice(0, dot));
  }
  return { leaves, around };
}
