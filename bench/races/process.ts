import { forkAsk } from '../contenders/fork.ts';
import { orreryAsk } from '../contenders/orrery.ts';
import type { Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** One agent in a process of its own: what it is judged, kept and accounted for comes on top of the way there. */
const RECEIVERS = 1;

const processAsk = (width: number): Race => ({
  kind: 'race',
  name: `ask-process-${width}`,
  title: `Ask an agent in a process of its own, ${width} in flight`,
  unit: 'per second',
  contenders: [
    orreryAsk('handler', RECEIVERS, { where: 'process', width }),
    orreryAsk('transition', RECEIVERS, { where: 'process', width }),
    forkAsk(RECEIVERS, width),
  ],
  comparisons: [
    { contender: 'orrery handler', baseline: 'fork IPC', of: 'rate' },
    { contender: 'orrery transition', baseline: 'fork IPC', of: 'rate' },
  ],
});

/** Asks of senders in a worker to an agent in a process, by what is in flight. */
const processAsks: readonly Race[] = [1, 64].map(processAsk);

export const plugin: Plugin = { measurements: processAsks };
