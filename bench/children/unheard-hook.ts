import { setup } from 'xstate';
import { MachineHost } from '../../runtime/machine/machine-host.ts';
import { AgentSteps } from '../../runtime/observe/agent-steps.ts';

/** Nanoseconds that a step of a machine took, round by round: of a host that has a hook nobody listens to, and of one that has none. */
export interface HookCost {
  readonly hooked: readonly number[];
  readonly bare: readonly number[];
}

const STEPS = 200_000;
const WARM_ROUNDS = 5;

const lamp = setup({ types: {} as { events: { type: 'press' } } }).createMachine({
  id: 'lamp',
  initial: 'off',
  states: { off: { on: { press: 'on' } }, on: { on: { press: 'off' } } },
});

/** As the log of a thread while nobody inspects the system. */
const unheard = new AgentSteps({
  isTold: false,
  onInspected: () => () => undefined,
  stepped: () => {
    throw new Error('A step was told to nobody');
  },
});

function nanosecondsAStep(host: MachineHost<typeof lamp>): number {
  const press = { type: 'press' } as const;
  const startMs = performance.now();
  for (let left = STEPS; left > 0; left--) host.send(press);
  return ((performance.now() - startMs) * 1e6) / STEPS;
}

const rounds = Number(process.argv[2] ?? 1);
const hosts = { hooked: new MachineHost(lamp, { watch: unheard }), bare: new MachineHost(lamp, {}) };
const cost = { hooked: [] as number[], bare: [] as number[] };
for (let round = -WARM_ROUNDS; round < rounds; round++) {
  const turns = round % 2 === 0 ? (['hooked', 'bare'] as const) : (['bare', 'hooked'] as const);
  for (const turn of turns) {
    const took = nanosecondsAStep(hosts[turn]);
    if (round >= 0) cost[turn].push(took);
  }
}
console.log(JSON.stringify(cost satisfies HookCost));
