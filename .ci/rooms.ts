/**
 * The rooms of the product, each below those that import it: `imports` is all that a room may import of ours, types included.
 * The rules of `npm run check:direction` are made of this list, and so is the table of docs/architecture.md.
 *
 * `packages` is all that it may import of others. @default anything declared
 */

interface Room {
  readonly room: string;
  readonly holds: string;
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
    holds: 'words that all share: card, envelope, capability, errors, contracts, seams',
    imports: [],
    packages: ['zod'],
  },
  {
    room: 'runtime/os',
    holds: 'what the operating system says of threads and processes, and how it ends them',
    imports: ['protocol'],
  },
  {
    room: 'runtime/machine',
    holds:
      '`MachineHost`, which runs every state machine: pure steps, named actions, delays that persist; drawings of them',
    imports: ['protocol'],
    packages: ['xstate'],
  },
  {
    room: 'runtime/mailbox',
    holds: 'mail, flows with marks and ledger, lanes',
    imports: ['protocol'],
  },
  {
    room: 'runtime/budget',
    holds: 'accounts in shared memory, the budgets of envelopes',
    imports: ['protocol', 'mailbox'],
  },
  {
    room: 'runtime/observe',
    holds: 'events, counters, metrics, dead letters',
    imports: ['protocol', 'mailbox'],
  },
  {
    room: 'runtime/supervision',
    holds: 'restart decisions, back-off, the life of an agent, the watchdog',
    imports: ['protocol', 'machine', 'mailbox'],
  },
  {
    room: 'runtime/routing',
    holds: 'table, registry, resolve, judge, grants; `A2ARouter` on its own',
    imports: ['protocol', 'machine', 'mailbox', 'observe'],
  },
  {
    room: 'runtime/channels',
    holds: 'channels between two agents, over ports or over any transport',
    imports: ['protocol', 'machine', 'mailbox', 'supervision', 'routing'],
  },
  {
    room: 'runtime/link',
    holds: 'what goes between two threads: ports, batches, calls, flows and their commit; threads spawned',
    imports: ['protocol', 'os', 'mailbox', 'observe', 'supervision'],
  },
  {
    room: 'runtime/journal',
    holds: 'stores, the journal and its thread, what former processes have left',
    imports: ['protocol', 'os', 'mailbox', 'budget', 'supervision', 'link'],
  },
  {
    room: 'runtime/upgrade',
    holds: "an agent's state as data: whose it is, taken, migrated, restored",
    imports: ['protocol'],
  },
  {
    room: 'runtime/agent',
    holds: 'what an author writes, and what runs it: definitions, contexts, logic, offload',
    imports: ['protocol', 'machine', 'mailbox', 'supervision', 'channels', 'upgrade'],
  },
  {
    room: 'runtime/cell',
    holds: 'one agent in one thread: its mailbox, its actors, handling, sends, asks, streams, outcomes',
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
    holds: 'agents whose code runs in a process of its own: spawning, permissions, frames',
    imports: ['protocol', 'os', 'machine', 'mailbox', 'supervision', 'journal', 'agent', 'cell'],
  },
  {
    room: 'runtime/processes/child',
    holds: 'what runs in such a process: it has frames, and no system around it',
    imports: ['protocol', 'os', 'machine', 'upgrade', 'agent', 'processes'],
  },
  {
    room: 'runtime/thread',
    holds: 'what one thread hosts: its agents, its links, its line to the journal',
    imports: [
      'protocol',
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
    ],
  },
  {
    room: 'runtime/control',
    holds: 'the control thread: supervisor, watchdog, the order of the table, threads begun and replaced',
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
      'thread',
    ],
  },
  {
    room: 'runtime/system',
    holds: '`createSystem`, and what a thread becomes: the pieces wired, none of them by name',
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
      'thread',
      'control',
    ],
  },
  {
    room: 'runtime/simulate',
    holds: 'a system in virtual time: scheduler, faults, invariants, trace, the search for failures',
    imports: [
      'protocol',
      'mailbox',
      'budget',
      'observe',
      'link',
      'journal',
      'agent',
      'cell',
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
    holds: 'one file a rule: whether an envelope may go',
    imports: ['runtime/protocol'],
  },
  {
    room: 'transports',
    holds: 'what carries our own frames, a folder a transport: `local`, `message-port`',
    imports: ['runtime/protocol'],
  },
  { room: 'actors/planets', holds: 'the 21 planets as data', imports: ['runtime/protocol'] },
  {
    room: 'actors/tools',
    holds: 'the tool host: what the cards of a team offer as tools, resources and prompts',
    imports: PUBLIC,
  },
  {
    room: 'actors/tasks',
    holds: 'tasks that outlive requests, and what has agents work at them',
    imports: [...PUBLIC, 'actors/tools'],
  },
  {
    room: 'actors/shared-state',
    holds: 'Yjs documents that agents share',
    imports: PUBLIC,
  },
  {
    room: 'actors/negotiator',
    holds: '`TaskNegotiator`: proposals, and capability negotiation',
    imports: PUBLIC,
  },
  {
    room: 'actors/swarm',
    holds: '`SwarmCoordinator`: swarms of one owner',
    imports: [...PUBLIC, 'actors/negotiator'],
  },
  {
    room: 'actors/models',
    holds: '`modelAgent`: agents that think with a model',
    imports: [...PUBLIC, 'actors/tools', 'actors/tasks'],
  },
  {
    room: 'actors/mcp-servers',
    holds: 'an MCP server as an agent',
    imports: [...PUBLIC, 'actors/tools'],
  },
  {
    room: 'actors/remote',
    holds: 'an agent elsewhere as a member of a system',
    imports: [...PUBLIC, 'actors/negotiator', 'actors/tasks'],
  },
  {
    room: 'actors',
    holds: 'whom every thread has attend to its agents',
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
    room: 'gateway',
    holds:
      'protocols of others, served and spoken: `http`, `a2a`, `mcp`, `xpr`; who may come in, `admit`; which URLs are called, `reach`',
    imports: ['runtime/protocol'],
  },
];

/** The rows of docs/architecture.md. */
export function tableOfRooms(): string {
  const short = (path: string): string => `\`${path.replace(/^runtime\/(?!public|agent\/)/, '')}\``;
  const row = ({ room, holds, imports, packages = [] }: Room): string =>
    `| \`${room}\` | ${holds} | ${[...imports.map(short), ...packages].join(', ') || 'nothing'} |`;
  return ['| room | what it is for | what it may import |', '|---|---|---|', ...ROOMS.map(row)].join('\n');
}

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
