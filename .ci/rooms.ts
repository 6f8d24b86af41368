/**
 * The rooms of the product, each below those that import it: `imports` is all that a room may import of ours, types included.
 * The rules of `npm run check:direction` are made of this list, and so are the tables of docs/architecture.md and
 * docs/internals/imports.md.
 *
 * `packages` is all that it may import of others. @default anything declared
 */

interface Room {
  readonly room: string;
  readonly holds: string;
  /** What it may not know; rooms by their names, which `imports` has none of. */
  readonly ignores: string;
  /** What always holds of it. */
  readonly invariants: string;
  readonly imports: readonly string[];
  readonly packages?: readonly string[];
}

/** A rule as dependency-cruiser has it. */
interface Rule {
  readonly name: string;
  readonly comment: string;
  readonly severity: 'error';
  readonly from: { readonly path: string; readonly pathNot?: string[] };
  readonly to: { readonly pathNot: string[]; readonly dependencyTypesNot: ['core'] };
}

const within = (folder: string, rooms: readonly Room[]): Room[] =>
  rooms.map((room) => ({ ...room, imports: room.imports.map((name) => `${folder}/${name}`) }));

const RUNTIME = within('runtime', [
  {
    room: 'runtime/protocol',
    holds: 'what all share: card, envelope, capability, errors, contracts, seams',
    ignores: 'any other room',
    invariants: 'In the runtime only `runtime/protocol/system-seams.ts` reads the clock and draws ids.',
    imports: [],
    packages: ['zod'],
  },
  {
    room: 'runtime/os',
    holds: 'what the system says of threads and processes; ending these',
    ignores: '`mailbox`, `agent`',
    invariants:
      'A process of a dead host is ended only if number and start time match, or it carries the mark.',
    imports: ['protocol'],
  },
  {
    room: 'runtime/machine',
    holds: '`MachineHost` runs state machines; their drawings',
    ignores: 'what an action does',
    invariants: 'Steps are pure. An action that throws ends its step; delays are set all the same.',
    imports: ['protocol'],
    packages: ['xstate'],
  },
  {
    room: 'runtime/mailbox',
    holds: 'mail, flows with marks and ledger, lanes',
    ignores: 'threads, ports',
    invariants: 'Flows are dense sequences. A mark has one writer at a time. One store makes a commit valid.',
    imports: ['protocol'],
  },
  {
    room: 'runtime/budget',
    holds: 'accounts in shared memory',
    ignores: '`cell`, `routing`',
    invariants:
      'An amount changes by compare-and-swap. A late change does nothing. A closed account gives back what is left.',
    imports: ['protocol', 'mailbox'],
  },
  {
    room: 'runtime/observe',
    holds: 'events, metrics, spans, logs, dead letters',
    ignores: '`routing`, `supervision`',
    invariants: 'An envelope is counted when its marks are committed.',
    imports: ['protocol', 'mailbox'],
  },
  {
    room: 'runtime/supervision',
    holds: "restart decisions, an agent's life, the watchdog",
    ignores: '`link`, `routing`',
    invariants: 'The record is true before anything is started or stopped. A late report changes nothing.',
    imports: ['protocol', 'machine', 'mailbox'],
  },
  {
    room: 'runtime/routing',
    holds: 'table, registry, resolve, judge, grants; `A2ARouter` alone',
    ignores: 'which rules there are',
    invariants: 'Table versions are dense. The first refusal decides. A rule that throws refuses.',
    imports: ['protocol', 'machine', 'mailbox', 'observe'],
  },
  {
    room: 'runtime/channels',
    holds: 'channels between two agents, over ports or a transport',
    ignores: '`cell`, `link`, which transport',
    invariants: 'Envelopes arrive once, in the order of `send`.',
    imports: ['protocol', 'machine', 'mailbox', 'supervision', 'routing'],
  },
  {
    room: 'runtime/link',
    holds: 'what goes between threads: ports, batches, calls, flows, commits',
    ignores: '`agent`, `routing`',
    invariants:
      '`flush` posts, then commits marks, then delivers within the thread. A flow is bounded by the mailbox of its recipient.',
    imports: ['protocol', 'os', 'mailbox', 'observe', 'supervision'],
  },
  {
    room: 'runtime/journal',
    holds: 'stores, the journal and its thread, what former processes left',
    ignores: '`agent`, `cell`',
    invariants: 'Causes are written before what came of them.',
    imports: ['protocol', 'os', 'mailbox', 'budget', 'observe', 'supervision', 'link'],
  },
  {
    room: 'runtime/upgrade',
    holds: "an agent's state as data: taken, migrated, restored",
    ignores: '`mailbox`, threads',
    invariants: 'Migrations and schemas get a copy of the snapshot.',
    imports: ['protocol'],
  },
  {
    room: 'runtime/agent',
    holds: 'what an author writes, and what runs it',
    ignores: '`cell`, `link`, `journal`',
    invariants: 'A listener of an author that throws ends nothing.',
    imports: ['protocol', 'machine', 'mailbox', 'supervision', 'channels', 'upgrade'],
  },
  {
    room: 'runtime/cell',
    holds: 'one agent in one thread: mailbox, actors, sends, asks, outcomes',
    ignores: '`thread`, `control`',
    invariants: 'An envelope taken ends in one outcome. Only `runtime/cell/cell.machine.ts` says the status.',
    imports: [
      'protocol',
      'machine',
      'mailbox',
      'budget',
      'observe',
      'supervision',
      'routing',
      'channels',
      'link',
      'journal',
      'upgrade',
      'agent',
    ],
  },
  {
    room: 'runtime/processes',
    holds: 'agents whose code runs in processes of their own',
    ignores: '`link`, `routing`',
    invariants:
      'Frames are checked, and believed only in a state that lists them. A process serves one life.',
    imports: ['protocol', 'os', 'machine', 'mailbox', 'supervision', 'journal', 'agent', 'cell'],
  },
  {
    room: 'runtime/peers',
    holds: 'other nodes: cards, sessions, agents',
    ignores: '`link`, `thread`',
    invariants: 'No node speaks for another. What a peer brings has a cap.',
    imports: ['protocol', 'machine', 'mailbox', 'budget', 'routing', 'channels', 'agent', 'cell'],
    packages: ['zod', 'xstate'],
  },
  {
    room: 'runtime/processes/child',
    holds: 'what runs in such a process',
    ignores: 'the system around it: it has frames',
    invariants: "It gives up its abilities before it loads the agent's code.",
    imports: ['protocol', 'os', 'machine', 'upgrade', 'agent', 'processes'],
  },
  {
    room: 'runtime/thread',
    holds: 'what one thread hosts: agents, links, its journal connection',
    ignores: '`control`',
    invariants: "A dead thread's posts are read before its mail is sent again.",
    imports: [
      'protocol',
      'os',
      'machine',
      'mailbox',
      'budget',
      'observe',
      'supervision',
      'routing',
      'link',
      'journal',
      'upgrade',
      'agent',
      'cell',
      'processes',
      'peers',
    ],
  },
  {
    room: 'runtime/control',
    holds: 'supervisor, watchdog, the table, threads begun and replaced',
    ignores: "agents' code",
    invariants:
      "It alone orders changes of the table. A dead thread's last commit is finished before its agents start again.",
    imports: [
      'protocol',
      'os',
      'mailbox',
      'budget',
      'observe',
      'supervision',
      'routing',
      'link',
      'journal',
      'agent',
      'cell',
      'peers',
      'thread',
    ],
  },
  {
    room: 'runtime/system',
    holds: '`createSystem`, and what a thread becomes',
    ignores: '`policies`, interceptors',
    invariants: 'A thread loads only what it is.',
    imports: [
      'protocol',
      'os',
      'mailbox',
      'budget',
      'observe',
      'supervision',
      'routing',
      'channels',
      'link',
      'journal',
      'agent',
      'cell',
      'processes',
      'peers',
      'thread',
      'control',
    ],
  },
  {
    room: 'runtime/simulate',
    holds: 'a system in virtual time, faults, the search for failures',
    ignores: '`policies`, `actors`',
    invariants: 'The same seed gives the same run, if agents stay in virtual time.',
    imports: [
      'protocol',
      'mailbox',
      'budget',
      'observe',
      'link',
      'journal',
      'agent',
      'cell',
      'peers',
      'thread',
      'control',
      'system',
    ],
  },
]);

/** What agents and embedders have of the runtime. */
const PUBLIC = [
  'runtime/protocol',
  'runtime/machine',
  'runtime/public.ts',
  'runtime/agent/agent-definition.ts',
];

export const ROOMS: readonly Room[] = [
  ...RUNTIME,
  {
    room: 'policies',
    holds: 'one file a rule: whether an envelope may go, and be taken',
    ignores: 'who routes',
    invariants: 'Rules run in one order, the cheap ones first.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'transports',
    holds: 'what carries our frames, a folder each',
    ignores: 'what a frame says',
    invariants: 'Frames arrive whole, in order, at most once. Only a lost connection loses them.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'actors/planets',
    holds: 'the 21 planets',
    ignores: 'how a planet works',
    invariants: 'Data.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'actors/tools',
    holds: 'tools, resources and prompts that cards offer',
    ignores: '`tasks`',
    invariants: 'In a system the cards are the only list of tools.',
    imports: PUBLIC,
  },
  {
    room: 'actors/tasks',
    holds: 'tasks that outlive requests, and who works at them',
    ignores: 'protocols of others',
    invariants: 'A change is shown when it is kept. A task has one turn at a time.',
    imports: [...PUBLIC, 'actors/tools'],
  },
  {
    room: 'actors/shared-state',
    holds: 'Yjs documents that agents share',
    ignores: '`negotiator`, `tasks`',
    invariants: 'A change is sent when the log has it.',
    imports: PUBLIC,
  },
  {
    room: 'actors/agent-port',
    holds: '`AgentPort`: what negotiator and coordinator act through',
    ignores: '`negotiator`, `swarm`',
    invariants: '`send` never rejects, and has sent when it returns.',
    imports: PUBLIC,
  },
  {
    room: 'actors/negotiator',
    holds: '`TaskNegotiator`: proposals, capability negotiation',
    ignores: '`swarm`',
    invariants: 'A lease ends at the agent before it ends at the proposer.',
    imports: [...PUBLIC, 'actors/agent-port'],
  },
  {
    room: 'actors/swarm',
    holds: '`SwarmCoordinator`: the swarms of one owner',
    ignores: '`tasks`, `models`',
    invariants: 'Machines alone hold the status. What follows from a change is done when the store has it.',
    imports: [...PUBLIC, 'actors/agent-port', 'actors/negotiator'],
  },
  {
    room: 'actors/skills',
    holds: 'memory, knowledge, policies',
    ignores: 'protocols of others',
    invariants: 'A query has one tenant.',
    imports: [...PUBLIC, 'actors/tasks'],
  },
  {
    room: 'actors/models',
    holds: '`modelAgent`: agents that think with a model',
    ignores: '`swarm`, `negotiator`',
    invariants: 'Only `actors/models/call-model.ts` calls a model.',
    imports: [...PUBLIC, 'actors/tools', 'actors/tasks', 'actors/skills'],
  },
  {
    room: 'actors/coding',
    holds: 'coding agents that are programs',
    ignores: 'missions',
    invariants: 'No program is believed, or left behind.',
    imports: [...PUBLIC, 'runtime/os'],
  },
  {
    room: 'actors/mcp-servers',
    holds: 'an MCP server as an agent',
    ignores: 'how it is reached',
    invariants: 'Connection and actor end together.',
    imports: [...PUBLIC, 'actors/tools'],
  },
  {
    room: 'actors/remote',
    holds: 'an agent elsewhere as a member',
    ignores: 'A2A on the wire: it has a link',
    invariants: 'A budget is reserved before anything is sent.',
    imports: [...PUBLIC, 'actors/agent-port', 'actors/negotiator', 'actors/tasks'],
  },
  {
    room: 'actors',
    holds: 'the interceptors of every thread',
    ignores: '`models`, `mcp-servers`, `remote`',
    invariants: '`actors/interceptors.ts` lists them all.',
    imports: [
      ...PUBLIC,
      'actors/tools',
      'actors/tasks',
      'actors/shared-state',
      'actors/negotiator',
      'actors/swarm',
    ],
  },
  {
    room: 'gateway/reach',
    holds: 'where calls out may go, and what streams back',
    ignores: '`gateway/http`',
    invariants: 'All addresses of a name are checked before the call.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'gateway/admit',
    holds: 'authenticators and rules of admission; the firewall',
    ignores: 'every protocol',
    invariants: 'If it cannot find out who calls, nobody is let in.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'gateway/http',
    holds: "sockets, limits, bodies, one request's path",
    ignores: 'every protocol served',
    invariants: 'It closes when each request in hand was answered or cut.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'gateway/team',
    holds: 'what of a team is served, and what a caller may',
    ignores: '`gateway/http`',
    invariants: 'It is as the registry is at that moment.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'gateway/a2a',
    holds: 'A2A: dialects (`wire`), server with push, client',
    ignores: '`gateway/admit`, `gateway/mcp`',
    invariants: 'Operations know no dialect. A receiver of pushes is checked before each call.',
    imports: ['runtime/protocol', 'gateway/reach', 'gateway/http', 'gateway/team'],
  },
  {
    room: 'gateway/mcp',
    holds: 'MCP: server, and client of mounted servers',
    ignores: '`gateway/admit`, `gateway/a2a`',
    invariants: 'A client may call what it is shown.',
    imports: ['runtime/protocol', 'gateway/http', 'gateway/team'],
  },
  {
    room: 'gateway/xpr',
    holds: 'XPR: chain, signatures, server, client, tools',
    ignores: '`gateway/mcp`, `gateway/team`',
    invariants: 'A signature is for one request, and is let in once.',
    imports: ['runtime/protocol', 'gateway/reach', 'gateway/admit', 'gateway/http', 'gateway/a2a'],
  },
  {
    room: 'gateway/lango',
    holds: "Lango's A2A over streams: wire, sessions, firewall, attestation, server, client",
    ignores: 'which transport a stream is of',
    invariants: 'Each stream has limits of size and time. A token is good on streams of its peer alone.',
    imports: ['runtime/protocol', 'gateway/admit', 'gateway/team'],
  },
  {
    room: 'gateway/agentmesh',
    holds: 'AgentMesh: identity file, messages, payloads, schemas',
    ignores: '`gateway/http`, `gateway/a2a`',
    invariants:
      'A schema of somebody else cannot hold up the thread. An identity file is never written over.',
    imports: ['runtime/protocol'],
  },
  {
    room: 'gateway/watch',
    holds: 'what operators see of a system; the page',
    ignores: 'who else is served',
    invariants: 'Whoever may only send sees nothing.',
    imports: ['runtime/protocol', 'gateway/reach', 'gateway/http'],
  },
  {
    room: 'gateway',
    holds: 'opens the protocols that options name; health',
    ignores: 'which engine serves it',
    invariants: 'A protocol that is not asked for is not loaded.',
    imports: [
      'runtime/protocol',
      'gateway/http',
      'gateway/team',
      'gateway/a2a',
      'gateway/mcp',
      'gateway/watch',
    ],
  },
];

/** The tables that pages have of the rooms, by the page that has each. */
export const TABLES_OF_ROOMS: Readonly<Record<string, () => string>> = {
  'docs/architecture.md': tableOfRooms,
  'docs/internals/imports.md': tableOfImports,
};

function tableOfRooms(): string {
  const rows = ROOMS.map(({ room, holds, ignores, invariants }) => [name(room), holds, ignores, invariants]);
  return tableOf(['room', 'holds', 'may not know', 'invariants'], rows);
}

function tableOfImports(): string {
  const rows = ROOMS.map(({ room, imports, packages = ['any package that is declared'] }) => [
    name(room),
    imports.map(short).join(', ') || 'no other',
    packages.join(', ') || 'none',
  ]);
  return tableOf(['room', 'may import these rooms', 'and these packages'], rows);
}

const name = (path: string): string => `\`${path}\``;

/** A room of the runtime without its folder. */
const short = (path: string): string => name(path.replace(/^runtime\/(?!public|agent\/|.*\.ts$)/, ''));

const tableOf = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** One rule a room: what stands in `pathNot` is all that it may import. A room within it has a rule of its own. */
export function rulesOfRooms(): Rule[] {
  return ROOMS.map(({ room, holds, imports, packages }) => {
    const inner = ROOMS.filter((other) => other.room.startsWith(`${room}/`)).map((other) => at(other.room));
    const theirs = packages?.map((name) => `node_modules/${name}/`) ?? ['node_modules/'];
    return {
      name: `${room}-imports`,
      comment: holds,
      severity: 'error',
      from: { path: at(room), ...(inner.length === 0 ? {} : { pathNot: inner }) },
      to: { pathNot: [at(room), ...imports.map(at), ...theirs], dependencyTypesNot: ['core'] },
    };
  });
}

/** Arrows to a room that does not stand above in the list: with none there is no circle. */
export function roomsInCircles(): string[] {
  const names = ROOMS.map(({ room }) => room);
  return ROOMS.flatMap(({ room, imports }, place) =>
    imports
      .filter((path) => names.includes(path) && !names.slice(0, place).includes(path))
      .map((path) => `${room} -> ${path}`),
  );
}

const at = (path: string): string =>
  path.endsWith('.ts') ? `^${path.replaceAll('.', '\\.')}$` : `^${path}/`;
