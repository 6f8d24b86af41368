import { type Operate, type ServedOptions, served } from '../gateway/contender.ts';
import type { Goal, Race } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

/** DESIGN 11: at least the reference SDK's rate on the same operation. */
const SDK: Goal = { better: 'more', target: 1, floor: 1 };

const EVENTS = 4;
const PAGE = 50;
const FEW_TASKS = 1_000;
const MANY_TASKS = 50_000;
/** Filling a server takes longer than starting one. */
const OPEN_MS = 120_000;

const send: Operate = async (client) => () => client.send();
const stream: Operate = async (client) => () => client.stream(EVENTS);
const list: Operate = async (client) => () => client.list(PAGE);
const get: Operate = async (client) => {
  const id = await client.send();
  return () => client.get(id);
};

interface GatewayRace {
  readonly name: string;
  readonly what: string;
  readonly options: Omit<ServedOptions, 'name' | 'server'>;
  /** Also with our agent in a worker thread, where it may block as long as it likes. */
  readonly isAgentRun?: boolean;
}

const gatewayRace = ({ name, what, options, isAgentRun = false }: GatewayRace): Race => {
  const worker = 'orrery, agent in a worker';
  const unsynced = 'a2a-js sdk, unsynced';
  const isKept = options.kept !== undefined;
  return {
    kind: 'race',
    name: `gateway-${name}`,
    title: `${what}, 64 connections, ${options.kept === undefined ? 'in memory' : 'kept in SQLite'}`,
    unit: 'per second',
    ...(options.tasks === undefined ? {} : { openMs: OPEN_MS }),
    contenders: [
      served({ ...options, name: 'orrery', server: 'orrery' }),
      ...(isAgentRun ? [served({ ...options, name: worker, server: 'orrery', agent: 'thread' })] : []),
      served({ ...options, name: 'a2a-js sdk', server: 'sdk' }),
      ...(isKept ? [served({ ...options, kept: 'unsynced', name: unsynced, server: 'sdk' })] : []),
    ],
    comparisons: [
      { contender: 'orrery', baseline: 'a2a-js sdk', of: 'rate', goal: SDK },
      ...(isAgentRun ? [{ contender: worker, baseline: 'a2a-js sdk', of: 'rate' as const }] : []),
      ...(isKept ? [{ contender: 'orrery', baseline: unsynced, of: 'rate' as const }] : []),
    ],
  };
};

/** A gateway over HTTP and the published SDK's server on express, on the same operations of A2A 1.0 over JSON-RPC. */
const gateway: readonly Race[] = [
  gatewayRace({
    name: 'send',
    what: 'SendMessage to a completed task',
    options: { operate: send },
    isAgentRun: true,
  }),
  gatewayRace({ name: 'get', what: 'GetTask', options: { operate: get } }),
  gatewayRace({
    name: 'stream',
    what: `SendStreamingMessage with ${EVENTS} events`,
    options: { operate: stream },
    isAgentRun: true,
  }),
  ...[FEW_TASKS, MANY_TASKS].map((tasks) =>
    gatewayRace({
      name: `list-${tasks}`,
      what: `ListTasks, ${PAGE} of ${tasks.toLocaleString('en')}`,
      options: { operate: list, tasks },
    }),
  ),
  gatewayRace({
    name: 'kept-send',
    what: 'SendMessage to a completed task',
    options: { operate: send, kept: true },
    isAgentRun: true,
  }),
  gatewayRace({ name: 'kept-get', what: 'GetTask', options: { operate: get, kept: true } }),
  gatewayRace({
    name: 'kept-stream',
    what: `SendStreamingMessage with ${EVENTS} events`,
    options: { operate: stream, kept: true },
  }),
];

export const plugin: Plugin = { measurements: gateway };
