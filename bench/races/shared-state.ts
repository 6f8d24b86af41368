import { orrerySharedState, plainYjs, signedYjs } from '../contenders/shared-state.ts';
import type { Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** Updates of a shared document, from a write at one member to its being applied at the other. */
const sharedStateUpdates: Race = {
  kind: 'race',
  name: 'shared-state',
  title: 'Updates of a shared Yjs document, two members in one thread',
  unit: 'per second',
  contenders: [orrerySharedState, plainYjs, signedYjs],
  comparisons: [
    { contender: 'orrery', baseline: 'bare Yjs, signed', of: 'rate' },
    { contender: 'orrery', baseline: 'bare Yjs', of: 'rate' },
  ],
};

export const plugin: Plugin = { measurements: [sharedStateUpdates] };
