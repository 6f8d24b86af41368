import { z } from 'zod';
import type { RequestMemory } from '../runtime/protocol/admission.ts';
import { MAX_TIMER_MS, Milliseconds } from '../runtime/protocol/milliseconds.ts';
import type { CardProvider } from '../runtime/protocol/firewall.ts';
import { PACKAGES_FOR } from '../runtime/protocol/optional-packages.ts';
import type { Seams } from '../runtime/protocol/seams.ts';
import type { TaskService } from '../runtime/protocol/task-service.ts';
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
 * - `issuer`  who sends push notifications, as their signatures say it.
 * - `records` where push configs are kept beyond the process; undefined: nowhere.
 * - `schemes` how callers prove who they are.
 * - `bindings` what else is served from the same operations.
 * - `seen`    which requests the gateways of the system have let in.
 * - `rights`  how far callers are believed.
 * - `cardProvider` gives the cards that are shown. @default those of the team
 * - `grpcUrl` where gRPC is spoken, as soon as it is known.
 * - `onPush`  hears what happens to each push notification.
 */
export interface OpenA2ADeps {
  readonly tasks: TaskService;
  readonly team: ServedTeam;
  readonly seams: Seams;
  readonly issuer: string;
  readonly records: KeyValues | undefined;
  readonly schemes: readonly string[];
  readonly bindings: readonly Binding[];
  readonly seen: RequestMemory;
  readonly rights: CallerRights;
  readonly cardProvider?: CardProvider | undefined;
  readonly grpcUrl: () => string | undefined;
  readonly onPush?: (event: PushEvent) => void;
}

/** A2A that is open. `signer` signs its cards; `metrics` is what is counted of it, as Prometheus text. */
export interface OpenA2A {
  readonly service: A2AService;
  readonly parts: readonly GatewayPart[];
  readonly signer: CardSigner | undefined;
  readonly metrics: () => Promise<string>;
}

/** What A2A needs of packages, so served. */
export const a2aPackages = ({ signing, push }: z.output<typeof A2AOptions>): readonly string[] => [
  ...(push === false ? [] : PACKAGES_FOR.pushNotifications),
  ...(signing === undefined ? [] : PACKAGES_FOR.signedCards),
];

/** A2A in all dialects, as parts of a gateway. Rejects with INVALID_OPTIONS. */
export async function openA2A(options: z.output<typeof A2AOptions>, deps: OpenA2ADeps): Promise<OpenA2A> {
  const {
    signing,
    heartbeatMs,
    waitMs,
    delegation,
    extensions,
    securitySchemes = schemesOf(deps.schemes),
  } = options;
  const { tasks, team, seams } = deps;
  const v01 = createV01({ newId: seams.newId, ...(waitMs === undefined ? {} : { waitMs }) });
  const drafts = options.draft ? [V1_1_DRAFT] : [];
  const dialects = [V1, ...drafts, V03, v01.rpc] as const;
  const push = options.push === false ? undefined : await pushOf(options.push, deps, dialects);
  const service = createA2AService({
    tasks,
    team,
    clock: seams.clock,
    rights: deps.rights,
    cardProvider: deps.cardProvider,
    cards: { securitySchemes, grpcUrl: deps.grpcUrl },
    extensions: [
      ...extensions,
      ...(delegation === undefined ? [] : [delegationExtension({ ...delegation, clock: seams.clock })]),
    ],
    ...(push === undefined ? {} : { push: push.configs }),
  });
  const bindings = deps.bindings.map((binding) => binding.open({ service, seams, seen: deps.seen }));
  const amendCard = amendedByAll(bindings);
  const part = await a2aPart({
    service,
    team,
    dialects,
    // What stands below /v1 would be an agent's of that name to 1.0.
    rest: [V03_REST, v01.rest, restBindingOf(V1, ...drafts)],
    ...(signing === undefined ? {} : { signing }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    cardsAreLive: deps.cardProvider !== undefined,
    ...(amendCard === undefined ? {} : { amendCard }),
  });
  const parts = [part, ...(push === undefined ? [] : [push.part]), ...bindings.map((open) => open.part)];
  return {
    service,
    parts,
    signer: signing === undefined ? undefined : await cardSigner(signing),
    metrics: push?.metrics ?? (async () => ''),
  };
}

/** Loaded when it is wanted: it needs packages that nothing else does. */
async function pushOf(
  { key, ...options }: PushOptions & { readonly key?: JsonWebKey },
  { tasks, seams, issuer, records, onPush }: OpenA2ADeps,
  dialects: PushServiceDeps['dialects'],
): Promise<Push> {
  const { openPush } = await import('./a2a/server/push/open-push.ts');
  return openPush({
    tasks,
    seams,
    issuer,
    dialects,
    options,
    ...(key === undefined ? {} : { key }),
    ...(records === undefined ? {} : { records }),
    ...(onPush === undefined ? {} : { onEvent: onPush }),
  });
}

const SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  Bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
};

/** Those that are not known here are said otherwise. */
const schemesOf = (names: readonly string[]): Record<string, SecurityScheme> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const scheme = Object.hasOwn(SCHEMES, name) ? SCHEMES[name] : undefined;
      return scheme === undefined ? [] : [[name, scheme] as const];
    }),
  );
