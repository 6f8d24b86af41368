import { z } from 'zod';
import type { RequestMemory } from '../runtime/protocol/admission.ts';
import { MAX_TIMER_MS, Milliseconds } from '../runtime/protocol/milliseconds.ts';
import type { CardProvider } from '../runtime/protocol/firewall.ts';
import { PACKAGES_FOR } from '../runtime/protocol/optional-packages.ts';
import type { TaskService } from '../runtime/protocol/task-service.ts';
import type { NotingClient } from '../runtime/protocol/told-failure.ts';
import {
  type A2AExtension,
  type A2AService,
  a2aPart,
  type CardKey,
  type CardSigner,
  cardSigner,
  createA2AService,
  V1,
  V1_1_DRAFT,
} from './a2a/server/index.ts';
import type { JsonWebKey } from './a2a/wire/card-key.ts';
import { delegationExtension, type DelegationExtensionOptions } from './a2a/server/delegation.ts';
import type { SecurityScheme } from './a2a/wire/operations.ts';
import type { Push } from './a2a/server/push/open-push.ts';
import type { PushEvent } from './a2a/server/push/push-event.ts';
import type { PushOptions } from './a2a/server/push/push-options.ts';
import type { PushServiceDeps } from './a2a/server/push/push-service.ts';
import type { KeyValues } from './a2a/server/push/push-store.ts';
import { createV01 } from './a2a/wire/v01/dialect.ts';
import { restBindingOf } from './a2a/wire/v1/dialect.ts';
import { V03, V03_REST } from './a2a/wire/v03/dialect.ts';
import { amendedByAll, type Binding } from './binding.ts';
import type { GatewayPart } from './http/gateway-part.ts';
import { isObject } from './http/json-text.ts';
import type { ServedTeam } from './team/served-team.ts';
import type { CallerRights } from './team/caller-rights.ts';

/**
 * How A2A is served.
 *
 * - `signing`         by what cards are signed. @default they are not
 * - `securitySchemes` how cards say that callers prove who they are. @default by the authenticators
 * - `heartbeatMs`     how often a stream shows that it lives. @default 15 seconds
 * - `waitMs`          how long an answer of 0.1 waits for its task; then it says how that stands. @default 30 seconds
 * - `push`            whom the gateway tells of tasks, and how hard it tries; `key` signs that, a private JWK; false: nobody.
 * - `delegation`      lets other systems of Orrery delegate to this one. @default it does not
 * - `extensions`      others that are served.
 * - `draft`           also speaks what is known of A2A 1.1, to those who name it. @default false
 */
export const A2AOptions = z.strictObject({
  signing: z.custom<CardKey>(isObject, 'a key, as {key}').optional(),
  securitySchemes: z.custom<Readonly<Record<string, SecurityScheme>>>(isObject, 'schemes by name').optional(),
  heartbeatMs: Milliseconds.optional(),
  waitMs: z.number().nonnegative().max(MAX_TIMER_MS).optional(),
  push: z
    .union([
      z.literal(false),
      z.custom<PushOptions & { readonly key?: JsonWebKey }>(isObject, 'options, or false'),
    ])
    .default({}),
  delegation: z.custom<Omit<DelegationExtensionOptions, 'clock'>>(isObject, 'options, as {node}').optional(),
  extensions: z.custom<readonly A2AExtension[]>(Array.isArray, 'a list of extensions').default([]),
  draft: z.boolean().default(false),
});
export type A2AOptions = z.input<typeof A2AOptions>;

/**
 * How a gateway serves A2A: its options for that, and what its other options come to for it.
 *
 * - `securitySchemes` how cards say that callers prove who they are.
 * - `issuer`          who sends push notifications, as their signatures say it.
 * - `bindings`        what else is served from the same operations.
 * - `cardProvider`    gives the cards that are shown. @default those of the team
 */
export type ServedA2AOptions = z.output<typeof A2AOptions> & {
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  readonly issuer: string;
  readonly bindings: readonly Binding[];
  readonly cardProvider?: CardProvider | undefined;
};

/**
 * - `client`  notes what nobody is told of who was to be told.
 * - `records` where push configs are kept beyond the process; undefined: nowhere.
 * - `seen`    which requests the gateways of the system have let in.
 * - `rights`  how far callers are believed.
 */
export interface OpenA2ADeps {
  readonly tasks: TaskService;
  readonly team: ServedTeam;
  readonly client: NotingClient;
  readonly records: KeyValues | undefined;
  readonly seen: RequestMemory;
  readonly rights: CallerRights;
}

/**
 * A2A that is open. `signer` signs its cards; `metrics` is what is counted of it, as Prometheus text.
 *
 * - `grpcAddress` where gRPC is served, as its cards say it; whoever opens that sets it.
 */
export interface OpenA2A {
  grpcAddress: string | undefined;
  readonly service: A2AService;
  readonly parts: readonly GatewayPart[];
  readonly signer: CardSigner | undefined;
  readonly metrics: () => Promise<string>;
}

/** What A2A needs of packages, so served. */
export const a2aPackages = ({ signing, push }: ServedA2AOptions): readonly string[] => [
  ...(push === false ? [] : PACKAGES_FOR.pushNotifications),
  ...(signing === undefined ? [] : PACKAGES_FOR.signedCards),
];

/** A2A in all dialects, as parts of a gateway. Rejects with INVALID_OPTIONS. */
export async function openA2A(options: ServedA2AOptions, deps: OpenA2ADeps): Promise<OpenA2A> {
  const { signing, heartbeatMs, waitMs, delegation, extensions, securitySchemes, cardProvider } = options;
  const { tasks, team, rights, seen } = deps;
  const { seams } = deps.client;
  let grpcAddress: string | undefined;
  const v01 = createV01({ newId: seams.newId, ...(waitMs === undefined ? {} : { waitMs }) });
  const drafts = options.draft ? [V1_1_DRAFT] : [];
  const dialects = [V1, ...drafts, V03, v01.rpc] as const;
  const push =
    options.push === false
      ? undefined
      : await pushOf({ ...options.push, issuer: options.issuer }, deps, dialects);
  const service = createA2AService({
    tasks,
    team,
    clock: seams.clock,
    rights,
    cardProvider,
    cards: { securitySchemes, grpcUrl: () => grpcAddress },
    extensions: [
      ...extensions,
      ...(delegation === undefined ? [] : [delegationExtension({ ...delegation, clock: seams.clock })]),
    ],
    ...(push === undefined ? {} : { push: push.configs }),
  });
  const bindings = options.bindings.map((binding) => binding.open({ service, seams, seen }));
  const amendCard = amendedByAll(bindings);
  const part = await a2aPart({
    service,
    team,
    dialects,
    // What stands below /v1 would be an agent's of that name to 1.0.
    rest: [V03_REST, v01.rest, restBindingOf(V1, ...drafts)],
    ...(signing === undefined ? {} : { signing }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(amendCard === undefined ? {} : { amendCard }),
  });
  const parts = [part, ...(push === undefined ? [] : [push.part]), ...bindings.map((open) => open.part)];
  return {
    service,
    parts,
    signer: signing === undefined ? undefined : await cardSigner(signing),
    metrics: push?.metrics ?? (async () => ''),
    get grpcAddress() {
      return grpcAddress;
    },
    set grpcAddress(address) {
      grpcAddress = address;
    },
  };
}

/** Loaded when it is wanted: it needs packages that nothing else does. */
async function pushOf(
  { key, issuer, ...options }: PushOptions & { readonly key?: JsonWebKey; readonly issuer: string },
  { tasks, client, records }: OpenA2ADeps,
  dialects: PushServiceDeps['dialects'],
): Promise<Push> {
  const { openPush } = await import('./a2a/server/push/open-push.ts');
  return openPush({
    tasks,
    seams: client.seams,
    issuer,
    dialects,
    options,
    onEvent: (event) => noteUntold(client, event),
    ...(key === undefined ? {} : { key }),
    ...(records === undefined ? {} : { records }),
  });
}

const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  Bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
};

/** What nobody is told of who was to be told is an event of the system. */
function noteUntold(client: NotingClient, { type, taskId, origin, reason = '', security }: PushEvent): void {
  if (type === 'taken' || type === 'failed') return;
  const what = type === 'gave-up' ? 'is not told of it any more' : 'may be told of it again after a restart';
  client.note({
    type: 'error',
    agentId: client.agentId,
    errorCode: type === 'gave-up' ? 'DELIVERY_FAILED' : 'STORE_FAILED',
    reason: `The task ${taskId}: ${origin} ${what}: ${reason}`,
    success: false,
    ...(security === undefined ? {} : { security }),
  });
}

/** How cards say what authenticators look at. Those that are not known here are said otherwise. */
export const schemesOf = (names: readonly string[]): Record<string, SecurityScheme> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const scheme = Object.hasOwn(SCHEMES, name) ? SCHEMES[name] : undefined;
      return scheme === undefined ? [] : [[name, scheme] as const];
    }),
  );
