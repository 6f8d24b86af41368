import { comedyAsk } from '../contenders/comedy.ts';
import { comlinkAsk } from '../contenders/comlink.ts';
import { orreryAsk } from '../contenders/orrery.ts';
import { piscinaAsk } from '../contenders/piscina.ts';
import { bareMachineAsk, bareTransitionAsk } from '../contenders/plain-xstate.ts';
import { rawPingPong, rawPortAsk } from '../contenders/raw-ask.ts';
import type { Comparison, Goal, Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** DESIGN 11: of an unbatched raw port, at 64 in flight, for handlers and transition logic. */
const PIPELINED: Goal = { better: 'more', target: 1.8, floor: 1.5 };

/** DESIGN 11: of comlink, piscina and comedy, for a pipelined ask. */
const PEERS: Goal = { better: 'more', target: 3 };

/** DESIGN 11: of a bare `actor.send` of the same machine. */
const MACHINE: Goal = { better: 'more', target: 0.85 };

/** DESIGN 11: time of a raw ping-pong, on one core. */
const ROUND_TRIP: Goal = { better: 'less', target: 1.15, floor: 1.15 };

const rateOf = (contender: string, baseline: string, goal?: Goal): Comparison => ({
  contender,
  baseline,
  of: 'rate',
  ...(goal === undefined ? {} : { goal }),
});

const timeOf = (contender: string, goal?: Goal): Comparison => ({
  contender,
  baseline: 'raw ping-pong',
  of: 'time',
  ...(goal === undefined ? {} : { goal }),
});

const pipelinedAsk = (width: number): Race => {
  const goal = width === 64 ? PIPELINED : undefined;
  const peers = width === 64 ? PEERS : undefined;
  return {
    kind: 'race',
    name: `ask-across-${width}`,
    title: `Ask across two worker threads, ${width} in flight`,
    unit: 'per second',
    contenders: [
      orreryAsk('handler', 'tiers', { where: 'across', width }),
      orreryAsk('transition', 'tiers', { where: 'across', width }),
      orreryAsk('machine', 'tiers', { where: 'across', width }),
      rawPortAsk('tiers', width),
      comlinkAsk('tiers', width),
      piscinaAsk('tiers', width),
      comedyAsk('tiers', width),
    ],
    comparisons: [
      rateOf('orrery handler', 'raw port', goal),
      rateOf('orrery transition', 'raw port', goal),
      rateOf('orrery machine', 'raw port'),
      rateOf('orrery handler', 'comlink', peers),
      rateOf('orrery handler', 'piscina', peers),
      rateOf('orrery handler', 'comedy', peers),
      rateOf('comlink', 'raw port'),
      rateOf('piscina', 'raw port'),
      rateOf('comedy', 'raw port'),
    ],
  };
};

/** Asks of 21 senders in one worker to receivers in the other, by what is in flight. */
const pipelinedAsks: readonly Race[] = [1, 16, 64, 256].map(pipelinedAsk);

/** One ask after the other where both threads share a core: no time is spent on waking one up. */
const roundTrip: Race = {
  kind: 'race',
  name: 'round-trip',
  title: 'Sequential round trip, the whole process on one core (taskset -c 0)',
  unit: 'microseconds',
  onOneCore: true,
  contenders: [
    orreryAsk('handler', 'tiers', { where: 'across', width: 1 }),
    orreryAsk('transition', 'tiers', { where: 'across', width: 1 }),
    orreryAsk('machine', 'tiers', { where: 'across', width: 1 }),
    rawPingPong('tiers'),
    rawPortAsk('tiers', 1),
    comlinkAsk('tiers', 1),
    piscinaAsk('tiers', 1),
    comedyAsk('tiers', 1),
  ],
  comparisons: [
    timeOf('orrery handler', ROUND_TRIP),
    timeOf('orrery transition', ROUND_TRIP),
    timeOf('orrery machine'),
    timeOf('raw port'),
    timeOf('comlink'),
    timeOf('piscina'),
    timeOf('comedy'),
  ],
};

const INLINE_WIDTH = 64;

/** Asks that stay in the thread that started the system. */
const askInOneThread: Race = {
  kind: 'race',
  name: 'ask-inline',
  title: `Ask inside one thread, ${INLINE_WIDTH} in flight`,
  unit: 'per second',
  contenders: [
    orreryAsk('handler', 'tiers', { where: 'inline', width: INLINE_WIDTH }),
    orreryAsk('transition', 'tiers', { where: 'inline', width: INLINE_WIDTH }),
    orreryAsk('machine', 'tiers', { where: 'inline', width: INLINE_WIDTH }),
    bareMachineAsk(INLINE_WIDTH),
    bareTransitionAsk(INLINE_WIDTH),
  ],
  comparisons: [
    rateOf('orrery machine', 'bare machine', MACHINE),
    rateOf('orrery handler', 'bare machine'),
    rateOf('orrery transition', 'bare transition'),
  ],
};

export const plugin: Plugin = { measurements: [...pipelinedAsks, roundTrip, askInOneThread] };
