import { table } from '@orrery/ralph-loop';
import type { Logger, Team } from 'orrery';
import type { ServeFault, ServeOptions, Serving } from 'orrery/gateway';
import type { CommandDeps } from './command.ts';
import type { TypedOptions } from './run-plan.ts';
import { openLog, planLog } from './log.ts';
import { openNodeSocket } from './node-socket.ts';
import type { OrderSocket } from './order-socket.ts';
import { type NodeFacts, nodeFacts, nodeLines } from './node-lines.ts';
import { nodeOrders } from './node-orders.ts';
import { type NodePlan, refusalOfNode } from './node-plan.ts';
import { runtimeFolder } from './own-folder.ts';
import { startTeam } from './start-team.ts';
import { planUp, refusalOf, type UpPlan } from './up-plan.ts';
import { TokenFile } from './up-token.ts';
import { UsageError } from './usage-error.ts';
import { builtPage, watchLines } from './watch/watch-page.ts';
import { type UnapprovedCatalogue, unapprovedCatalogues } from './unapproved-catalogues.ts';

const SIGNAL_EXIT = 128;
const SIGINT = 2;
/** How long requests in hand may take after a signal, milliseconds. The process ends within a second anyway. */
const DRAIN_MS = 500;
const CARD = '.well-known/agent-card.json';

/** Runs `orrery up`: serves the team until a signal comes. Resolves to the exit code. */
export async function upCommand(options: TypedOptions, deps: CommandDeps): Promise<number> {
  const { interruption, clock, version } = deps;
  const plan = await planUp(options, { clock, version });
  const { node } = plan;
  const page = await builtPage();
  const logPlan = planLog(options, deps.errors);
  const logger = logPlan && (await openLog(logPlan, deps.errors));
  using _warnings = logger && logWarnings(logger);
  await using system = await startTeam(teamOf(plan, logger)).catch((error: unknown) => {
    throw node === undefined ? error : refusalOfNode(error, node, options);
  });
  using socket = node && (await openSocket(system, node));
  const serving = await system.serve(servedWith(plan, { page, logger })).catch((error: unknown) => {
    throw refusalOf(error, options);
  });
  using tokenFile = tokenFileOf(plan, serving);
  const token = tokenFile === undefined ? undefined : { token: String(plan.token), file: tokenFile.path };
  const isJson = options['json'] === true;
  const facts = node && nodeFacts(system.peers, node);
  const { unlockToken } = plan.watch;
  const catalogues = await unapprovedCatalogues(system);
  const shown: Shown = { serving, token, node: facts, catalogues, unlockToken };
  deps.screen.write(isJson ? jsonLines(shown) : plainLines(shown));
  await untilAborted(interruption.signal);
  // Removed first, because a slow end is cut off.
  tokenFile?.[Symbol.dispose]();
  socket?.[Symbol.dispose]();
  await end(system, serving, deps, isJson);
  return SIGNAL_EXIT + (interruption.signalNumber ?? SIGINT);
}

const teamOf = (
  { agents, workers, journal, node, tracing }: UpPlan,
  logger: Logger | undefined,
): Parameters<typeof startTeam>[0] => ({
  ...(logger === undefined ? {} : { logger }),
  ...(tracing === undefined ? {} : { tracing }),
  agents,
  ...(workers === undefined ? {} : { workers }),
  ...(journal === undefined ? {} : { journal }),
  ...(node === undefined ? {} : { peers: node.peers }),
});

/** What no caller is told of stands in the log. */
function servedWith(
  { serve, watch }: UpPlan,
  { page, logger }: { readonly page: URL | undefined; readonly logger: Logger | undefined },
): ServeOptions {
  return {
    ...serve,
    watch: page === undefined ? watch : { ...watch, page },
    ...(logger === undefined ? {} : { onFault: (fault) => logFault(logger, fault) }),
  };
}

function logFault(logger: Logger, { error, ...request }: ServeFault): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const { method, path } = request;
  logger.error({ event: 'gateway-fault', ...request, stack }, `gateway-fault: ${method} ${path}: ${message}`);
}

/** Has warnings of the process stand in the log, in place of Node's own lines. */
function logWarnings(logger: Logger): Disposable {
  const former = process.listeners('warning');
  const log = ({ name, message, stack }: Error): void =>
    logger.warn({ event: 'process-warning', name, stack }, `process-warning: ${name}: ${message}`);
  process.removeAllListeners('warning').on('warning', log);
  return {
    [Symbol.dispose]: () => {
      process.off('warning', log);
      for (const listener of former) process.on('warning', listener);
    },
  };
}

/** Lets `orrery peers` in. */
const openSocket = (
  { peers }: Team,
  { node, trustFile, peers: { trust = [] } }: NodePlan,
): Promise<OrderSocket> =>
  openNodeSocket(runtimeFolder(process.env), node, nodeOrders({ peers, trustFile, typed: trust }));

/** The token for callers, and the file that has it. */
interface Token {
  readonly token: string;
  readonly file: string;
}

/** The facts to print once the team is served. */
interface Shown {
  readonly serving: Serving;
  readonly token: Token | undefined;
  readonly node: NodeFacts | undefined;
  readonly catalogues: readonly UnapprovedCatalogue[];
  /** With which watchers may act. */
  readonly unlockToken: string | undefined;
}

function tokenFileOf({ token }: UpPlan, { port }: Serving): TokenFile | undefined {
  if (token === undefined) return undefined;
  try {
    return new TokenFile(runtimeFolder(process.env), port, token);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}; "--no-token" serves without one`);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function end(system: Team, serving: Serving, { screen }: CommandDeps, isJson: boolean): Promise<void> {
  const inHand = serving.inHand();
  if (isJson) screen.write(`${JSON.stringify({ type: 'closing', inHand, drainMs: DRAIN_MS })}\n`);
  else if (inHand === 0) screen.write('Closing\n');
  else screen.write(`Closing: waits at most ${DRAIN_MS} ms for ${inHand} requests and streams\n`);
  await serving.close({ drainMs: DRAIN_MS });
  await system.stop({ drainMs: 0 });
  if (isJson) screen.write(`${JSON.stringify({ type: 'closed' })}\n`);
}

const cardUrl = (url: string, agentId: string): string => `${url}/${encodeURIComponent(agentId)}/${CARD}`;

/** Formats the facts as lines of JSON. */
function jsonLines({ serving, token, node, catalogues, unlockToken }: Shown): string {
  const { url, host, port, grpcAddress, routes, team, admits } = serving;
  const lines = [
    { type: 'serving', url, host, port, grpcAddress, card: `${url}/${CARD}`, ...admits },
    ...(token === undefined ? [] : [{ type: 'token', ...token }]),
    ...(node === undefined ? [] : [{ type: 'node', ...node }]),
    { type: 'watch', url: `${url}/`, ...(unlockToken === undefined ? {} : { unlockToken }) },
    ...team.cards().map(({ id, name, tier }) => ({ type: 'agent', id, name, tier, card: cardUrl(url, id) })),
    ...routes.map((route) => ({ type: 'route', ...route })),
    ...catalogues.map((catalogue) => ({ type: 'catalogue', ...catalogue })),
    { type: 'ready' },
  ];
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

function plainLines({ serving, token, node, catalogues, unlockToken }: Shown): string {
  const { url, grpcAddress, routes, team } = serving;
  const agents = team.cards().map(({ id }) => [id, cardUrl(url, id)]);
  const lines = [
    `${team.identity.name} is served at ${url}`,
    '',
    'Agents, and where their cards are',
    ...table([['(all)', `${url}/${CARD}`], ...agents], '  '),
    '',
    'Protocols',
    ...table(
      [...protocolRows(routes), ...(grpcAddress === undefined ? [] : [['A2A over gRPC', grpcAddress]])],
      '  ',
    ),
    '',
    `Who may come in: ${token === undefined ? whoMay(serving) : 'whoever has the token'}`,
    ...(token === undefined ? [] : tokenLines(token)),
    ...(node === undefined ? [] : ['', ...nodeLines(node), '']),
    ...catalogues.map(({ reason }) => reason),
    ...watchLines(url, { token: token?.token, unlockToken }),
    `Health: ${url}/healthz and ${url}/readyz, metrics: ${url}/metrics`,
    'Ctrl-C ends it',
  ];
  return `${lines.join('\n')}\n`;
}

const tokenLines = ({ token, file }: Token): string[] => [
  `  Authorization: Bearer ${token}`,
  `  It is kept in ${file} until this ends`,
];

const MOST_PATHS = 3;

/** The protocols and their paths, as rows of a table. */
function protocolRows(routes: Serving['routes']): string[][] {
  const paths = Map.groupBy(
    routes.filter(({ serves }) => PROTOCOL.test(serves)),
    ({ serves }) => serves.split(/[:,]/)[0] ?? serves,
  );
  return [...paths].map(([protocol, all]) => {
    const shown = all.slice(0, MOST_PATHS).map(({ method, path }) => `${method} ${path}`);
    const more = all.length - shown.length;
    return [protocol, `${shown.join(', ')}${more === 0 ? '' : `, and ${more} more`}`];
  });
}

/** Routes of protocols: their description begins with a name. */
const PROTOCOL = /^[A-Z]/;

const WAYS: Readonly<Record<string, string>> = {
  ApiKey: 'an API key',
  Bearer: 'a token',
  XPR: "an account's signature",
};

function whoMay({ admits: { anonymous, schemes }, host }: Serving): string {
  const ways = schemes.map((scheme) => WAYS[scheme] ?? scheme).join(' or ');
  if (ways === '') return `anybody who reaches ${host}`;
  return anonymous ? `whoever has ${ways}, and others as nobody in particular` : `whoever has ${ways}`;
}
