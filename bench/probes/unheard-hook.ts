import { runChild } from '../child-process.ts';
import type { HookCost } from '../children/unheard-hook.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';

const CHILD = new URL('../children/unheard-hook.ts', import.meta.url);
const CHILD_MS = 120_000;

/** Nanoseconds, not microseconds: less than a tenth of what a step takes. */
const ADDED: Goal = { better: 'less', target: 50, floor: 200 };

/** What inspection costs a state machine while nobody inspects. */
const unheardHook: Probe = {
  kind: 'probe',
  name: 'unheard-hook',
  title: 'What a hook for inspection adds to a step of a state machine while nobody listens',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const cost = await runChild({ module: CHILD, args: [String(rounds)], timeoutMs: CHILD_MS });
    const { hooked, bare } = cost as HookCost;
    const added = hooked.map((took, round) => took - (bare[round] ?? Number.NaN));
    return [
      repeatedReading(bare, { name: 'a step without a hook', unit: 'ns' }),
      repeatedReading(added, { name: 'added by the hook', unit: 'ns', goal: ADDED }),
    ];
  },
};

export const plugin: Plugin = { measurements: [unheardHook] };
