import { answerDirectly } from '../../http/route-of.ts';
import type { GatewayPart, Routes, ServedRoute } from '../../http/gateway-part.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { A2AService } from './a2a-service.ts';
import { type AmendCard, CARD_ROUTES, mountCards } from './card-routes.ts';
import { type CardKey, publicKeysOf } from '../wire/card-key.ts';
import type { CardSigner } from '../wire/card-signature.ts';
import type { Dialect, RestBinding } from '../wire/dialect.ts';
import type { Endpoint, EndpointDeps } from './endpoint.ts';
import { jsonRpcEndpoint } from './json-rpc.ts';
import { honoPathOf } from '../wire/rest-routes.ts';
import { type RestEndpoint, restEndpoint } from './rest.ts';
import { restBindingOf, V1 } from '../wire/v1/dialect.ts';

export { type A2AService, type A2AServiceOptions, createA2AService } from './a2a-service.ts';
export type { CardKey } from '../wire/card-key.ts';
export type { CardSigner };
export type { AmendCard } from './card-routes.ts';
export type { A2AExtension } from './caller.ts';
export type { PushConfigService } from './push-configs.ts';
export type { RestBinding } from '../wire/dialect.ts';
export { V1, V1_1_DRAFT } from '../wire/v1/dialect.ts';

/**
 * - `service`     what is served.
 * - `dialects`    those that are served over JSON-RPC, the newest first. @default A2A 1.0
 * - `rest`        those that are served over plain HTTP. Of two that have a path the first gets it, and one to whom it is
 *                 the path of an agent comes last. @default A2A 1.0
 * - `signing`     signs the cards. @default they are not signed
 * - `amendCard`   makes of a card the one that is shown. @default it is shown as it is
 * - `heartbeatMs` how often a stream shows that it lives. @default 15 s
 */
export interface A2APartOptions {
  readonly service: A2AService;
  readonly team: ServedTeam;
  readonly dialects?: readonly [Dialect, ...Dialect[]];
  readonly rest?: readonly RestBinding[];
  readonly signing?: CardKey;
  readonly amendCard?: AmendCard;
  readonly heartbeatMs?: number;
}

/** Also with a slash at the end, which some clients add to the URL of a card. */
const RPC_PATHS = ['/rpc', '/rpc/', '/:agentId/rpc', '/:agentId/rpc/', '/'] as const;
const HEARTBEAT_MS = 15_000;
const KEYS_ROUTE: ServedRoute = {
  method: 'GET',
  path: '/.well-known/card-keys.json',
  serves: 'the keys that cards are signed with',
};

/**
 * A2A for a gateway: cards, JSON-RPC at `/rpc`, `/{agentId}/rpc` and `/`, REST, streams. Rejects with INVALID_OPTIONS when
 * the key does not sign.
 */
export async function a2aPart(options: A2APartOptions): Promise<GatewayPart> {
  const { service, team, dialects = [V1], rest = [restBindingOf(V1)] } = options;
  const { signing } = options;
  const signer = signing === undefined ? undefined : await cardSigner(signing);
  return {
    name: 'a2a',
    routes: [...routesOf(rest), ...(signing === undefined ? [] : [KEYS_ROUTE])],
    mount(app, edge) {
      const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
      const deps: EndpointDeps = { service, edge, heartbeatMs, signer };
      mountCards(app, {
        cards: service.cards,
        team,
        dialects,
        edge,
        signer,
        amend: options.amendCard,
      });
      if (signing !== undefined) {
        const keys = publicKeysOf(signing);
        app.get(KEYS_ROUTE.path, (context) =>
          context.json(keys, 200, { 'Cache-Control': 'public, max-age=300' }),
        );
      }
      mountRpc(app, jsonRpcEndpoint({ ...deps, dialects }));
      const endpoints = rest.map((binding) => ({ binding, endpoint: restEndpoint(deps, binding) }));
      for (const prefix of ['', '/:agentId']) for (const each of endpoints) mountRest(app, prefix, each);
    },
  };
}

/** Loads the signer of cards. Nothing else needs its packages. */
export async function cardSigner(key: CardKey): Promise<CardSigner> {
  const signature = await import('../wire/card-signature.ts');
  return signature.cardSigner(key);
}

function mountRpc(app: Routes, endpoint: Endpoint): void {
  for (const path of RPC_PATHS) answerDirectly(app, 'POST', path, endpoint);
}

/** The binding's own router says what is meant: patterns that overlap are told apart there. */
function mountRest(
  app: Routes,
  prefix: string,
  { binding, endpoint }: { readonly binding: RestBinding; readonly endpoint: RestEndpoint },
): void {
  const patterns = binding.routes.map(({ method, path }) => `${method} ${prefix}${honoPathOf(path)}`);
  for (const pattern of new Set(patterns)) {
    const [method = '', path = ''] = pattern.split(' ');
    app.on(method, path, async (context, next) => {
      const response = await endpoint(context.req.raw);
      if (response === undefined) await next();
      return response;
    });
  }
}

function routesOf(rest: readonly RestBinding[]): readonly ServedRoute[] {
  const rpc = ['/rpc', '/{agentId}/rpc', '/'].map((path) => ({
    method: 'POST',
    path,
    serves: 'A2A over JSON-RPC',
  }));
  const paths = rest.flatMap(({ dialect, routes }) =>
    routes.map(({ method, path, operation }) => ({
      method,
      path,
      serves: `A2A ${dialect.version} over HTTP: ${operation}`,
    })),
  );
  return [...CARD_ROUTES, ...rpc, ...paths];
}
