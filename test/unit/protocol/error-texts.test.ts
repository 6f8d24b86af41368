import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpServer } from '../../../mcp.ts';
import { modelAgent } from '../../../actors/models/index.ts';
import { defaultPolicies } from '../../../policies/index.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { remoteAgent } from '../../../remote.ts';
import * as edges from '../../../runtime/protocol/edge-errors.ts';
import * as errors from '../../../runtime/protocol/errors.ts';
import * as tools from '../../../runtime/protocol/tool-errors.ts';
import { agentCardFromAcp } from '../../../runtime/protocol/acp-descriptor.ts';
import { parseInput, parseOutput } from '../../../runtime/protocol/capability.ts';
import { deserializeEnvelope, parseEnvelope } from '../../../runtime/protocol/envelope.ts';
import { capability, defineAgent } from '../../../runtime/public.ts';
import { parseSimulateOptions } from '../../../runtime/simulate/simulate-options.ts';
import { parseSystemOptions } from '../../../runtime/system/system-options.ts';
import { parseGatewayOptions } from '../../../gateway/serve-options.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';

/** A text that somebody may read, and where it comes from. */
interface ErrorText {
  readonly from: string;
  readonly code: string;
  readonly text: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const MAX_LENGTH = 400;
/** What comes of values that nobody has looked at, of one reason told twice, and of what is for a developer of ours. */
const NEVER = [
  /received undefined|got undefined|undefined, undefined|NaN, got/,
  /\[object /,
  /\(root\)/,
  /Invalid input|Too small|Too big|Unrecognized key/,
  /something else/,
  /\n/,
  / at .*:\d+:\d+/,
  /\s$|[:;,]$/,
  / {2}|,,|(?<!\.)\.\.(?!\.)/,
  /\bundefined\b.*\bundefined\b/,
];
/** A clause that is this long and stands there twice is one reason told twice. */
const LONG_CLAUSE = 16;

/** What is wrong with how an error is put; undefined when nothing is. */
function faultOfText({ code, text, details }: ErrorText): string | undefined {
  const never = NEVER.find((pattern) => pattern.test(text));
  if (never !== undefined) return `it has ${never}`;
  if (text.length > MAX_LENGTH) return `it has ${text.length} characters`;
  if (!beginsWell(text, details)) return 'it begins neither with a capital letter nor with a name';
  const clauses = text.split(/[:;]/).map((clause) => clause.trim());
  const twice = clauses.find((clause, at) => clause.length >= LONG_CLAUSE && clauses.indexOf(clause) < at);
  if (twice !== undefined) return `it says twice "${twice}"`;
  if (code !== 'INVALID_OPTIONS') return undefined;
  const { field, value, expected } = details;
  return text === `${field} is ${value}, expected ${expected}`
    ? undefined
    : 'it does not name field and value';
}

/** With a capital letter, a name in quotes, or one of the names that the error is about. */
function beginsWell(text: string, details: ErrorText['details']): boolean {
  if (/^["A-Z]/.test(text)) return true;
  return Object.values(details).some(
    (name) => typeof name === 'string' && name !== '' && text.startsWith(name),
  );
}

const LONG = 'x'.repeat(2_000);

/** What is given in the place of anything. */
const BAD_VALUES: readonly unknown[] = [
  null,
  '',
  'nobody',
  LONG,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  true,
  [],
  [1],
  [null],
  {},
  { strange: 1 },
  () => 1,
  1n,
  Symbol('bad'),
  new Map([[1, 2]]),
  new Date(Number.NaN),
  new Error('a value'),
];

/** What is wrong with `options` in one place at a time: a field at any depth that is another value, is left out, or is new. */
function* spoilt(options: unknown): Generator<unknown> {
  yield undefined;
  yield* BAD_VALUES;
  if (typeof options !== 'object' || options === null) return;
  yield { ...options, nobodyKnows: 1 };
  for (const [field, value] of Object.entries(options)) {
    const { [field as keyof typeof options]: _left, ...without } = options;
    yield without;
    for (const bad of spoilt(value)) yield Array.isArray(options) ? [bad] : { ...options, [field]: bad };
  }
}

/** What `call` throws or rejects with for each of `values`, each text once. */
async function textsOf(
  from: string,
  values: Iterable<unknown>,
  call: (value: never) => unknown,
): Promise<ErrorText[]> {
  const found = new Map<string, ErrorText>();
  for (const value of values) {
    try {
      await call(value as never);
    } catch (error) {
      const text = textOf(from, error);
      found.set(text.text, text);
    }
  }
  return [...found.values()];
}

function textOf(from: string, error: unknown): ErrorText {
  if (isOrreryError(error)) return { from, code: error.code, text: error.message, details: error.details };
  return { from, code: 'none', text: String(error), details: {} };
}

type Factory = (...given: never[]) => errors.OrreryError;
type FactoryName<Of> = {
  [Name in keyof Of]: Of[Name] extends Factory ? Name : never;
}[keyof Of];
/** What each of a module's makers of errors is given: one that is missing here does not compile. */
type Samples<Of> = {
  readonly [Name in Exclude<
    FactoryName<Of>,
    'errorFromData' | 'embedderError' | 'withoutStack'
  >]: Of[Name] extends (...given: infer Given) => unknown ? Given : never;
};

const of = { machineId: 'm', version: '1.0.0', hash: 'abcdef0123456789' };
const PROTOCOL: Samples<typeof errors> = {
  agentNotFound: ['mars'],
  notHosted: ['mars'],
  capabilityNotFound: ['files.read'],
  channelClosed: ['c-1', 'its peer has left'],
  deliveryFailed: ['e-1', 'WebSocket', 'it is closed'],
  mailboxFull: ['mars', 1_000],
  actorDied: ['mars', 'no database'],
  handlerFailed: ['mars', 'no database'],
  outsiderRefused: ['mars', 10_000],
  threadDied: ['mars', 'worker-1'],
  startFailed: ['worker-1', 'load its code', 'it ended'],
  deadlineExceeded: ['The ask of mars', 30_000],
  cancelled: ['The work of mars'],
  pathLoop: ['mars', 'files.read'],
  hopLimit: [16],
  noHopsLeft: ['mars'],
  budgetExceeded: [{ tokens: 10 }, { tokens: 5, costUsd: 0.1 }],
  budgetUsedUp: [{ tokens: 0 }],
  poison: ['mars', 3, { reason: 'no database' }],
  notSerialisable: ['payload.at', 'a bigint'],
  moduleInvalid: ['file:///agents/mars.agent.ts', 'it exports no agent'],
  snapshotUnknown: ['mars', 'no migration leads there', { from: of, to: undefined }],
  snapshotInvalid: ['mars', 'atMs is "soon", expected a number'],
  stateNotSerialisable: ['mars', 'state.at', 'a bigint'],
  systemStopped: ['mars was stopped with it'],
  controlLost: ['it ended'],
  notHere: ['mars', 'worker-1'],
  schemaVersionMismatch: [1, 2],
  invalidCard: ['id is missing, expected a text'],
  invalidEnvelope: ['sender is missing, expected a text'],
  invalidPayload: ['files.read', 'path is 1, expected a text'],
  invalidOptions: ['workers', -1, 'a number above 0'],
  storeFailed: ['journal.db', 'write', 'no space is left'],
  storeInUse: ['journal.db', 42],
  storeInvalid: ['journal.db', 'it is no journal'],
  simulationEscaped: [
    'mars',
    'it set a timer',
    { resource: 'Timeout', place: 'mars.ts:3', where: undefined },
  ],
  refused: ['Not today'],
};
const EDGES: Samples<typeof edges> = {
  unauthenticated: ['its key is not known'],
  remoteUnreachable: ['https://example.org', 'nobody listens', { mayHaveArrived: false }],
  remoteFailed: ['https://example.org', 'its answer is no JSON'],
  inputRequired: ['mars', 'Which colour?'],
  bodyTooLarge: [1_000],
  peersMissing: ['The gateway', ['hono', 'jose']],
  notPermitted: ['Bob may not do this'],
  mayNotGoOut: [],
};
const TOOLS: Samples<typeof tools> = {
  duplicateTool: ['search', 'mars'],
  toolNotFound: ['search'],
  resourceNotFound: ['notes://one'],
  promptNotFound: ['greet'],
  tainted: ['files.delete', ['web:example.org'], 'nobody is there who could approve it'],
};

const factoryTexts = (module: object, samples: object): ErrorText[] =>
  Object.entries(samples).map(([name, given]) =>
    textOf(
      name,
      (module as Record<string, (...args: unknown[]) => unknown>)[name]?.(...(given as unknown[])),
    ),
  );

const doing = capability({ id: 'do', description: 'Does', input: z.unknown(), output: z.unknown() });
const IDENTITY = { id: 'mars', name: 'MARS', version: '1.0.0', description: 'Digs', tier: 2 };
const MODULE = {
  module: new URL('file:///a.js'),
  isolation: 'process',
  memoryMb: 64,
  instances: ['a'],
  permissions: { read: ['/'] },
};
const payload = capability({
  id: 'tests.payload',
  description: 'Takes much',
  input: z.strictObject({
    n: z.int().min(1),
    text: z.string().min(2),
    rows: z.array(z.object({ id: z.url() })),
    either: z.union([z.string(), z.int()]),
    how: z.enum(['a', 'b']),
  }),
  output: z.strictObject({ n: z.number() }),
});
const ENVELOPE = {
  id: 'e-1',
  schemaVersion: 1,
  type: 'request',
  sender: 'a',
  recipient: 'b',
  correlationId: 'e-1',
  timestamp: 1,
  payload: {},
  metadata: { tier: 2, budget: { tokens: 1 } },
};
const CARD = {
  ...IDENTITY,
  protocols: ['orrery'],
  endpoints: [],
  capabilities: [{ id: 'a', name: 'A', description: 'A', inputSchema: {}, outputSchema: {} }],
  revision: 1,
  origin: 'local',
  lastSeenAt: 0,
};

/** Everything that takes options, or reads what others say: with something that works, whatever it does not need aside. */
const PUBLIC: readonly (readonly [string, unknown, (given: never) => unknown])[] = [
  [
    'startSystem',
    {
      agents: [MODULE],
      workers: 2,
      broadcastToSender: true,
      supervision: {
        intensity: { maxRestarts: 1, withinMs: 5 },
        backOff: { firstMs: 1, maxMs: 2 },
        groups: [{ name: 'g', strategy: 'one-for-all', agents: ['a'] }],
      },
      watchdog: { stallMs: 100 },
      cpu: { maxThreads: 1 },
      events: { traffic: 100, lives: 100 },
      journal: { path: 'a.db' },
    },
    parseSystemOptions,
  ],
  [
    'policies',
    { maxHops: 3, escalation: 'all', sandbox: { enforced: true, crossSandboxAllowList: [] } },
    defaultPolicies,
  ],
  [
    'defineAgent',
    { ...IDENTITY, delivery: 'retry', mailboxCapacity: 5, restart: 'permanent', handlingTimeoutMs: 5 },
    defineAgent,
  ],
  [
    'capability',
    { id: 'a', description: 'A', input: z.string(), output: z.string(), carries: 'json', privileged: true },
    capability,
  ],
  ['handle', doing, (given) => defineAgent(IDENTITY as never).handle(given, () => undefined)],
  [
    'payload',
    { n: 1, text: 'ab', rows: [{ id: 'https://a.example' }], either: 1, how: 'a' },
    (given) => parseInput(payload, given),
  ],
  ['answer', { n: 1 }, (given) => parseOutput(payload, given, 'mars')],
  ['envelope', ENVELOPE, parseEnvelope],
  ['envelope as text', '{', (given) => deserializeEnvelope(typeof given === 'string' ? given : '{')],
  ['registry', CARD, (given) => new AgentRegistry().register(given)],
  [
    'acp',
    {
      id: 'a',
      name: 'A',
      version: '1.0.0',
      description: 'A',
      author: 'A',
      icon: 'a',
      website: 'a',
      capabilities: [],
    },
    (given) => agentCardFromAcp(given, { tier: 2, nowMs: 1 }),
  ],
  [
    'mcpServer',
    { id: 'search', command: 'a-server', args: ['a'], env: { A: 'a' }, grantedTier: 2, privileged: ['a'] },
    mcpServer,
  ],
  [
    'modelAgent',
    {
      ...IDENTITY,
      model: { url: 'http://127.0.0.1:1/v1', model: 'm', apiKey: 'k' },
      instructions: 'Answer',
      tools: ['a'],
      limits: { maxSteps: 3 },
      prices: { inputPerMillion: 1, outputPerMillion: 2 },
    },
    modelAgent,
  ],
  [
    'remoteAgent',
    { client: { retries: 1 }, id: 'a', tier: 2 },
    (given) => remoteAgent('ftp://127.0.0.1', given),
  ],
  [
    'simulate',
    {
      seed: 1,
      agents: [],
      run: () => 1,
      faults: { crash: { probability: 0.5, most: 1 } },
      maxMs: 5,
      workers: 1,
      invariants: [() => undefined],
      effects: { a: () => 1 },
    },
    parseSimulateOptions,
  ],
  [
    'serve',
    { entry: 'a', name: 'A', authenticators: [], bindings: [], publicUrl: 'https://a.example' },
    (given) => parseGatewayOptions(given, true),
  ],
];

/** One of each kind: what differs in the value alone is one line. */
function tableOf(texts: readonly ErrorText[]): string {
  const lines = new Map<string, string>();
  for (const { from, code, text, details } of texts) {
    // Of what is found in a payload, what is found first says the kind.
    const fault = details['field'] ?? text.replace(/ is [^,]*,/g, '').split(';')[0];
    const kind = `${from} ${code} ${fault} ${details['expected'] ?? ''}`;
    if (!lines.has(kind)) lines.set(kind, `${from.padEnd(16)} ${code.padEnd(16)} ${text}`);
  }
  return [...lines.values()].join('\n');
}

describe('The texts of errors', () => {
  it('are sentences that say what was wrong, whatever was given', async () => {
    const given = await Promise.all(PUBLIC.map(([from, good, call]) => textsOf(from, spoilt(good), call)));
    const made = [
      ...factoryTexts(errors, PROTOCOL),
      ...factoryTexts(edges, EDGES),
      ...factoryTexts(tools, TOOLS),
    ];
    const texts = [...made, ...given.flat()];
    console.log(tableOf(texts));
    const faults = texts.flatMap((text) => {
      const fault = faultOfText(text);
      return fault === undefined ? [] : [`${text.from}, ${text.code}: ${text.text} (${fault})`];
    });
    expect(faults).toEqual([]);
    for (const [at, [from]] of PUBLIC.entries()) expect(given[at]?.length, from).toBeGreaterThan(0);
  });
});
