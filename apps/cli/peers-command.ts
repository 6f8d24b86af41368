import { readdirSync } from 'node:fs';
import { duration, printable, table } from '@orrery/ralph-loop';
import type { Clock, PeerRow, RefusedPeer } from 'orrery';
import type { CommandDeps } from './command.ts';
import { nodeOfSocket, socketOf } from './node-socket.ts';
import type { NodeView, TrustChange } from './node-orders.ts';
import { askAt, isNobody } from './order-socket.ts';
import { runtimeFolder } from './own-folder.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** The exit code when somebody was cut off or let in, and it could not be kept for the next start. */
const EXIT_UNKEPT = 74;
const MOST_AGENTS = 8;

/**
 * Runs `orrery peers`: shows which nodes a running one sees, lets one in, or cuts one off. Resolves to the exit code.
 */
export async function peersCommand(
  options: TypedOptions,
  { screen, clock }: Pick<CommandDeps, 'screen' | 'clock'>,
): Promise<number> {
  const { trust, revoke, json } = options;
  if (trust !== undefined && revoke !== undefined)
    throw new UsageError('Options "--trust" and "--revoke" exclude each other');
  const folder = runtimeFolder(process.env);
  const node = options['node'] === undefined ? undefined : String(options['node']);
  const { path, view } = await running(folder, node);
  const say = (value: unknown, lines: () => readonly string[]): void =>
    screen.write(json === true ? `${JSON.stringify(value, null, 2)}\n` : `${lines().join('\n')}\n`);
  if (trust === undefined && revoke === undefined) {
    say(view, () => viewLines(view, clock));
    return 0;
  }
  const [name, who] = trust === undefined ? (['revoke', revoke] as const) : (['trust', trust] as const);
  const change = (await askAt(path, name, { who })) as TrustChange;
  say(change, () => changeLines(name, view.node, change));
  return change.unkept === undefined ? 0 : EXIT_UNKEPT;
}

interface Running {
  readonly path: string;
  readonly view: NodeView;
}

/** The running node of that name, or the only one. Throws UsageError. */
async function running(folder: string, node: string | undefined): Promise<Running> {
  const names = node === undefined ? namesIn(folder) : [node];
  const found = (await Promise.all(names.map((name) => viewAt(socketOf(folder, name))))).flatMap(
    (one) => one ?? [],
  );
  const [first, ...others] = found;
  if (first === undefined)
    throw new UsageError(
      node === undefined
        ? "No node of this user runs here: 'orrery up --node NAME' starts one"
        : `Option "--node" is "${node}": no such node of this user runs here`,
    );
  if (others.length === 0) return first;
  const several = found.map(({ view }) => view.node).join(', ');
  throw new UsageError(`Option "--node" is missing: several nodes run here, ${several}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).flatMap((file) => nodeOfSocket(file) ?? []);
  } catch {
    return [];
  }
}

/** What the node says; undefined where none is behind the socket. */
async function viewAt(path: string): Promise<Running | undefined> {
  try {
    return { path, view: (await askAt(path, 'list', {})) as NodeView };
  } catch (error) {
    if (isNobody(error)) return undefined;
    throw error;
  }
}

const HEADINGS = ['NODE', 'STATUS', 'SINCE', 'BY', 'ROUND TRIP', 'KEY', 'AGENTS'];
const REFUSED_HEADINGS = ['REFUSED KEY', 'CALLS ITSELF', 'LAST', 'TIMES', 'BY', 'WHY'];

/** Formats what a node says as text. */
export function viewLines(
  { node, publicKey, addresses, peers, refused }: NodeView,
  clock: Pick<Clock, 'now'>,
): string[] {
  const nowMs = clock.now();
  return [
    `${node} ${publicKey}`,
    ...addresses.map((address) => `  at ${address}`),
    '',
    ...(peers.length === 0
      ? ['No other node was there since it started']
      : table([HEADINGS, ...peers.map((row) => rowOf(row, nowMs))])),
    ...(refused.length === 0
      ? []
      : [
          '',
          ...table([REFUSED_HEADINGS, ...refused.map((one) => refusedRow(one, nowMs))]),
          '',
          "'orrery peers --trust=KEY=NAME' lets one in, if its owner has told you the same key",
        ]),
  ];
}

function rowOf(row: PeerRow, nowMs: number): string[] {
  const { node, status, sinceMs, transport, address, roundTripMs, publicKey, agents } = row;
  const way = [transport, address].filter((part) => part !== undefined).join(' ');
  const shown = agents.slice(0, MOST_AGENTS).join(', ');
  const more = agents.length > MOST_AGENTS ? ` and ${agents.length - MOST_AGENTS} more` : '';
  return [
    node,
    status,
    duration(Math.max(0, nowMs - sinceMs)),
    way === '' ? '-' : way,
    roundTripMs === undefined ? '-' : `${roundTripMs.toFixed(1)} ms`,
    publicKey,
    `${shown}${more}`,
  ].map(printable);
}

const refusedRow = (
  { publicKey, node, atMs, times, reason, transport }: RefusedPeer,
  nowMs: number,
): string[] =>
  [
    publicKey,
    node,
    `${duration(Math.max(0, nowMs - atMs))} ago`,
    String(times),
    transport ?? 'dialled',
    reason,
  ].map(printable);

function changeLines(name: 'trust' | 'revoke', node: string, { keys, file, unkept }: TrustChange): string[] {
  const done = name === 'trust' ? 'lets in' : 'has cut off, and lets in no more,';
  return [
    ...keys.map((key) => `${node} ${done} ${key}`),
    unkept === undefined
      ? `${file} says so, also for the next start`
      : `This holds until it stops, for ${file} could not be written: ${unkept}`,
  ];
}
