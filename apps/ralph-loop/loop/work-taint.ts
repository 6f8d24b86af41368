import type { AskOptions } from 'orrery';

/** Where something came from outside (F-09): what is made of it has it, too. */
export type Taint = NonNullable<AskOptions['taint']>;

/** The taint of all of them together; undefined where none has any. */
export function taintOfAll(taints: Iterable<Taint | undefined>): Taint | undefined {
  const sources = new Set<string>();
  for (const taint of taints) for (const source of taint ?? []) sources.add(source);
  return sources.size === 0 ? undefined : [...sources].sort();
}

/** The option of an ask with what has this taint. */
export const tainted = (taint: Taint | undefined): { readonly taint?: Taint } =>
  taint === undefined ? {} : { taint };
