import { type System, startSystem } from 'orrery';
import { withParameters } from './agents/agent-parameters.ts';
import { type Layout, receiversOf, SENDERS } from './team.ts';

/** What a receiver is made of. */
export type ReceiverKind = 'handler' | 'transition' | 'machine';

/** Senders in one worker and receivers in the other, or all in the thread that starts the system. */
export type Where = 'across' | 'inline';

export interface TeamOptions {
  readonly receivers: ReceiverKind;
  readonly layout: Layout;
  readonly where: Where;
}

const SENDER = new URL('./agents/sender.agent.ts', import.meta.url);
const RECEIVERS: Readonly<Record<ReceiverKind, URL>> = {
  handler: new URL('./agents/handler-receiver.agent.ts', import.meta.url),
  transition: new URL('./agents/transition-receiver.agent.ts', import.meta.url),
  machine: new URL('./agents/machine-receiver.agent.ts', import.meta.url),
};

/** Starts a system with default policies, the 21 senders and the receivers of the layout. */
export async function startTeam({ receivers, layout, where }: TeamOptions): Promise<System> {
  const placeOf = (worker: string) =>
    where === 'inline' ? { isolation: 'inline' as const } : { isolation: 'thread' as const, place: worker };
  const senders = SENDERS.map(({ id, tier }, senderIndex) => ({
    module: withParameters(SENDER, { id, tier, senderIndex, layout }),
    ...placeOf('worker-1'),
  }));
  const receiving = receiversOf(layout).map(({ id, tier }) => ({
    module: withParameters(RECEIVERS[receivers], { id, tier }),
    ...placeOf('worker-2'),
  }));
  const system = await startSystem({ agents: [...senders, ...receiving] });
  await requirePlaces(system, where);
  return system;
}

/** A tell across threads that stays in one would be a wrong figure: says so instead. */
async function requirePlaces(system: System, where: Where): Promise<void> {
  const roster = await system.roster();
  const placesOf = (prefix: string): string => {
    const places = roster.filter(({ id }) => id.startsWith(prefix)).map(({ place }) => place);
    return [...new Set(places)].sort().join(' and ');
  };
  const [senders, receivers] = [placesOf('sender-'), placesOf('receiver-')];
  const isAcross = senders !== receivers && !`${senders}${receivers}`.includes(' and ');
  if (where === 'across' ? isAcross : senders === receivers) return;
  await system.stop();
  throw new Error(`Senders are in ${senders}, receivers in ${receivers}; wanted: ${where}`);
}
