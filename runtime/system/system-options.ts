import { z } from 'zod';
import { AgentDefinition } from '../agent/agent-definition.ts';
import { AgentId } from '../agent/agent-options.ts';
import { JournalOptions } from '../journal/journal-options.ts';
import { CpuPoolOptions } from '../agent/offload.ts';
import { EventLimits, type EventOptions } from '../observe/event-limits.ts';
import type { Logger } from '../observe/logger.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { PeerOptions } from './peer-options.ts';
import { PROCESS_FIELDS, ProcessOptions } from '../agent/process-options.ts';
import { hasMethod, parseOptions } from '../protocol/parse-options.ts';
import {
  StartingOptions,
  parseSupervisorOptions,
  SupervisorOptions,
  WatchdogOptions,
} from '../supervision/supervisor-options.ts';

/**
 * Where an agent runs: the embedder's own thread, a worker thread, or a process of its own. That one is under Node's
 * permissions, and with `{ process: 'bubblewrap' }` in namespaces of its own as well: Linux, with `bwrap` installed.
 */
export const Isolation = z.union([
  z.enum(['inline', 'thread', 'process']),
  z.strictObject({ process: z.literal('bubblewrap') }),
]);
export type Isolation = z.infer<typeof Isolation>;

const isOfProcess = (isolation: Isolation): boolean =>
  isolation === 'process' || typeof isolation === 'object';

const { permissions, memoryMb, residentMb, env, tier, sandboxId, mayDeclareClean, catalogue } =
  PROCESS_FIELDS;
const OF_PROCESSES = Object.keys(PROCESS_FIELDS) as (keyof typeof PROCESS_FIELDS)[];

/**
 * An agent to be started.
 *
 * - `module`    URL of the file that exports it.
 * - `isolation` @default 'thread'
 * - `instances` ids of the agents to make of it, instead of one under its own id.
 * - `lazy`      started by the first envelope. @default what the agent says
 *
 * The others are for `isolation: 'process'` or `{ process: 'bubblewrap' }`, and for a module that is a file:
 *
 * - `permissions` what its code may do beyond reading itself. @default nothing
 * - `memoryMb`    heap that its JavaScript may use, megabytes. @default 256
 * - `residentMb`  memory of the whole process, megabytes. @default `memoryMb` + 256
 * - `env`         its environment; nothing is inherited. @default {}
 * - `tier`, `sandboxId` what it is granted, whatever its module says of itself. @default what the module says
 * - `mayDeclareClean` whether it is believed when it says that nothing from outside is in it any more. @default false
 * - `catalogue`   `{ approved }`, the hash of the card that its owner has read, where it is one of an agent elsewhere. What its
 *                 module says is approved is not believed. @default none
 */
export const ModuleAgent = z
  .strictObject({
    module: z.instanceof(URL),
    isolation: Isolation.default('thread'),
    instances: z.array(AgentId).min(1).optional(),
    lazy: z.boolean().optional(),
    permissions: permissions.optional(),
    memoryMb: memoryMb.optional(),
    residentMb: residentMb.optional(),
    env: env.optional(),
    tier: tier.optional(),
    sandboxId: sandboxId.optional(),
    mayDeclareClean: mayDeclareClean.optional(),
    catalogue: catalogue.optional(),
  })
  .superRefine((agent, context) => {
    const wrong = (field: string, message: string, input: unknown): void =>
      context.addIssue({ code: 'custom', path: [field], message, input });
    if (isOfProcess(agent.isolation)) {
      if (agent.module.protocol !== 'file:')
        wrong('module', 'the URL of a file, for a process', agent.module.href);
      return;
    }
    for (const field of OF_PROCESSES)
      if (agent[field] !== undefined) wrong(field, "nothing, without isolation: 'process'", agent[field]);
  });
export type ModuleAgent = z.input<typeof ModuleAgent>;

/** How the agent's process is run; undefined for one without. */
export function processOptionsOf(agent: z.output<typeof ModuleAgent>): ProcessOptions | undefined {
  const { module: _module, isolation, instances: _instances, lazy: _lazy, ...ofProcess } = agent;
  if (!isOfProcess(isolation)) return undefined;
  const within = typeof isolation === 'object' ? isolation.process : undefined;
  return ProcessOptions.parse({ ...ofProcess, ...(within === undefined ? {} : { within }) });
}

/** An agent by its module, or a live one, which runs in the embedder's thread. */
export type AgentSpec = ModuleAgent | AgentDefinition<unknown>;

const isLogger = (value: unknown): boolean =>
  ['error', 'warn', 'info'].every((name) => hasMethod(name)(value));

/**
 * - `workers`           worker threads that host agents. @default 2
 * - `broadcastToSender` whether a broadcast reaches its sender too. @default true
 * - `spareThread`       whether a thread is kept ready to replace one that died. Without it that takes up to a third of a
 *                       second longer, and some 40 MB less memory are used. @default true
 * - `cpu`               the pool of each thread that `ctx.offload` runs in.
 * - `starting`          when starting is given up because nothing happens.
 * - `events`            how much of what happened is kept in memory.
 * - `logger`            writes a log of what happens to agents, threads, the journal and other nodes, of refusals and dead letters:
 *                       a logger of pino, `console`, or what has `error`, `warn` and `info` like these. @default nobody does
 * - `journal`           where what must outlive the process is kept. @default nothing does
 * - `peers`             who is asked for agents and capabilities that nobody here has. @default nobody
 */
const OwnOptions = z.strictObject({
  agents: z.array(z.unknown()).default([]),
  workers: z.int().min(1).max(64).default(2),
  broadcastToSender: z.boolean().default(true),
  spareThread: z.boolean().default(true),
  supervision: z.unknown().optional(),
  watchdog: z.unknown().optional(),
  starting: z.unknown().optional(),
  cpu: z.unknown().optional(),
  events: z.unknown().optional(),
  logger: z.custom<Logger>(isLogger, 'a logger: what has the methods error, warn and info').optional(),
  policies: z.unknown().optional(),
  journal: z.unknown().optional(),
  peers: z.unknown().optional(),
});

export interface SystemOptions {
  readonly agents?: readonly AgentSpec[];
  readonly workers?: number;
  readonly broadcastToSender?: boolean;
  readonly spareThread?: boolean;
  readonly supervision?: SupervisorOptions;
  readonly watchdog?: WatchdogOptions;
  readonly starting?: StartingOptions;
  readonly cpu?: CpuPoolOptions;
  readonly events?: EventOptions;
  readonly logger?: Logger;
  readonly journal?: JournalOptions;
  readonly peers?: PeerOptions;
}

/** The options with their defaults; throws INVALID_OPTIONS naming field and value. */
export function parseSystemOptions(options: SystemOptions) {
  const parsed = parseOptions(OwnOptions, options, 'options');
  const {
    supervision: ofDeaths = {},
    watchdog: ofLoops = {},
    starting: ofStart = {},
    cpu: ofPool = {},
    events: ofEvents = {},
  } = options;
  const supervision = parseSupervisorOptions(parseOptions(SupervisorOptions, ofDeaths, 'supervision'));
  const watchdog = parseOptions(WatchdogOptions, ofLoops, 'watchdog');
  const starting = parseOptions(StartingOptions, ofStart, 'starting');
  const agents = (options.agents ?? []).map(parseAgent);
  const cpu = parseOptions(CpuPoolOptions, ofPool, 'cpu');
  const events = parseOptions(EventLimits, ofEvents, 'events');
  const journal =
    options.journal === undefined ? undefined : parseOptions(JournalOptions, options.journal, 'journal');
  const peers = options.peers === undefined ? undefined : parseOptions(PeerOptions, options.peers, 'peers');
  return { ...parsed, supervision, watchdog, starting, cpu, agents, events, journal, peers };
}

/** The value if it is an object, with whatever in it; else throws INVALID_OPTIONS. */
export function requireOptions<Options extends object>(options: Options): Options {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw invalidOptions('options', options, 'an object of options');
}

/** The agent with its defaults; throws INVALID_OPTIONS naming field and value. */
export function parseAgent(spec: AgentSpec, at = 0): z.output<typeof ModuleAgent> | AgentDefinition<unknown> {
  if (spec instanceof AgentDefinition) return spec as AgentDefinition<unknown>;
  if (typeof spec !== 'object' || spec === null) {
    throw invalidOptions(`agents.${at}`, spec, 'an agent made by defineAgent, or { module: URL }');
  }
  return parseOptions(ModuleAgent, spec, `agents.${at}`);
}
