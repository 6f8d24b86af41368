import { type AgentSpec, type System, startSystem } from 'orrery';
import { withParameters } from './agents/agent-parameters.ts';
import { type Layout, type Member, receiversOf, SENDERS } from './team.ts';

/** What a receiver is made of. */
export type ReceiverKind = 'handler' | 'transition' | 'machine';

/**
 * Senders in one worker and receivers in the other; or each receiver in a process of its own; or all in the thread that
 * starts the system.
 */
export type Where = 'across' | 'process' | 'inline';

export interface TeamOptions {
  readonly receivers: ReceiverKind;
  readonly layout: Layout;
  readonly where: Where;
  /** All mailboxes are kept in this file. @default none is kept */
  readonly journal?: string;
}

const SENDER = new URL('./agents/sender.agent.ts', import.meta.url);
const IDLE = new URL('./agents/idle.agent.ts', import.meta.url);
const RECEIVERS: Readonly<Record<ReceiverKind, URL>> = {
  handler: new URL('./agents/handler-receiver.agent.ts', import.meta.url),
  transition: new URL('./agents/transition-receiver.agent.ts', import.meta.url),
  machine: new URL('./agents/machine-receiver.agent.ts', import.meta.url),
};

/** Starts a system with default policies, the 21 senders and the receivers of the layout. */
export async function startTeam({ receivers, layout, where, journal }: TeamOptions): Promise<System> {
  const senders = specsOf(SENDERS, (tier) => withParameters(SENDER, { tier, layout }));
  const receiving = specsOf(receiversOf(layout), (tier) => withParameters(RECEIVERS[receivers], { tier }));
  const kept = journal === undefined ? {} : { journal: { path: journal, durable: 'all' as const } };
  const system = await startSystem({ agents: placed(senders, receiving, where), workers: 2, ...kept });
  await requirePlaces(system, where);
  return system;
}

/** The receivers' modules import what lies above their folder. */
const BENCH = { read: [new URL('./', import.meta.url)] };

function placed(
  senders: readonly ModuleSpec[],
  receivers: readonly ModuleSpec[],
  where: Where,
): readonly ModuleSpec[] {
  if (where === 'across') return inTwoWorkers(senders, receivers);
  if (where === 'inline')
    return [...senders, ...receivers].map((spec) => ({ ...spec, isolation: 'inline' as const }));
  const isolated = receivers.map((spec) => ({ ...spec, isolation: 'process' as const, permissions: BENCH }));
  return [...inTwoWorkers(senders, []), ...isolated];
}

type ModuleSpec = Extract<AgentSpec, { module: URL }>;

/** One spec a tier, with the ids of its members: a module says one tier. */
function specsOf(members: readonly Member[], moduleOf: (tier: Member['tier']) => URL): readonly ModuleSpec[] {
  return [...Map.groupBy(members, ({ tier }) => tier)].map(([tier, group]) => {
    return { module: moduleOf(tier), instances: group.map(({ id }) => id) };
  });
}

/** Modules are placed in turn, so the two workers get theirs alternately; idle agents fill up the shorter list. */
export function inTwoWorkers(
  first: readonly ModuleSpec[],
  second: readonly ModuleSpec[],
): readonly ModuleSpec[] {
  return Array.from({ length: Math.max(first.length, second.length) }, (_, turn) => {
    const idle = (worker: number): ModuleSpec => ({ module: IDLE, instances: [`idle-${worker}-${turn}`] });
    return [first[turn] ?? idle(1), second[turn] ?? idle(2)];
  }).flat();
}

/** A tell across threads that stayed in one would be a wrong figure: fails instead. */
async function requirePlaces(system: System, where: Where): Promise<void> {
  const roster = await system.roster();
  const placesOf = (prefix: string): readonly string[] => {
    const places = roster.filter(({ id }) => id.startsWith(prefix)).map(({ place }) => place);
    return [...new Set(places)].sort();
  };
  const [senders, receivers] = [placesOf('sender-'), placesOf('receiver-')];
  const isApart = senders.length === 1 && receivers.length === 1 && senders[0] !== receivers[0];
  const isIn: Readonly<Record<Where, () => boolean>> = {
    across: () => isApart,
    process: () => senders.length === 1 && receivers.every((place) => place.startsWith('process-')),
    inline: () => senders.concat(receivers).every((place) => place === 'host'),
  };
  if (isIn[where]()) return;
  await system.stop();
  throw new Error(
    `Senders are in ${senders.join(', ')}, receivers in ${receivers.join(', ')}; wanted: ${where}`,
  );
}
