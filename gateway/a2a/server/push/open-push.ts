import type { JsonWebKey } from '../../wire/card-key.ts';
import type { GatewayPart } from '../../../http/gateway-part.ts';
import type { PushOptions } from './push-options.ts';
import { PushService, type PushServiceDeps } from './push-service.ts';
import { PushSigner } from './push-signer.ts';
import { JournalledPushStore, type KeyValues } from './push-store.ts';
import { Counter, Gauge, Registry } from 'prom-client';
import type { PushCounts } from './push-event.ts';

/**
 * - `issuer`  who sends, as every signature says it: as a rule the URL that the gateway is known by.
 * - `key`     a private key of P-256 or Ed25519 that signs. @default a new one, for as long as the process lasts
 * - `records` where configs are kept beyond the process. @default nowhere
 * - `options` how often it is tried, how many at once, and where it may go.
 */
export interface OpenPushOptions extends Omit<PushServiceDeps, 'signer' | 'store'> {
  readonly issuer: string;
  readonly key?: JsonWebKey;
  readonly records?: KeyValues;
  readonly options?: PushOptions;
}

/** `part` serves the keys, and closes the service with the gateway; `metrics` is what is counted, as Prometheus text. */
export interface Push {
  readonly configs: PushService;
  readonly part: GatewayPart;
  readonly metrics: () => Promise<string>;
}

/** Push notifications of a gateway. Rejects with INVALID_OPTIONS, and when what is kept cannot be read. */
export async function openPush({ issuer, key, records, options, ...deps }: OpenPushOptions): Promise<Push> {
  const signer = await PushSigner.create({ issuer, ...(key === undefined ? {} : { key }) });
  const store = records === undefined ? {} : { store: new JournalledPushStore(records) };
  const configs = await PushService.open({ ...deps, ...store, signer }, options);
  return {
    configs,
    part: pushPart({ signer, service: configs }),
    metrics: pushMetrics(() => configs.counts),
  };
}

const PATH = '/.well-known/jwks.json';
const MAX_AGE_S = 300;

/** Serves the public keys of push notifications, and closes the push service with the gateway. */
function pushPart({
  signer,
  service,
}: {
  readonly signer: PushSigner;
  readonly service: PushService;
}): GatewayPart {
  return {
    name: 'a2a-push',
    routes: [{ method: 'GET', path: PATH, serves: 'the keys that push notifications are signed with' }],
    mount(app) {
      const headers = { 'Cache-Control': `public, max-age=${MAX_AGE_S}` };
      app.get(PATH, ({ json }) => json(signer.jwks, 200, headers));
    },
    close: () => service.close(),
  };
}

/** The counters of push notifications as Prometheus text. */
function pushMetrics(read: () => PushCounts): () => Promise<string> {
  const registry = new Registry();
  const total = (what: string, help: string, count: (counts: PushCounts) => number): void => {
    new Counter({
      name: `orrery_gateway_push_${what}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(count(read()));
      },
    });
  };
  const gauge = (what: string, help: string, count: (counts: PushCounts) => number): void => {
    new Gauge({
      name: `orrery_gateway_push_${what}`,
      help,
      registers: [registry],
      collect() {
        this.set(count(read()));
      },
    });
  };
  total('taken', 'Notifications that their receiver has acknowledged', ({ taken }) => taken);
  total('failed', 'Attempts that are made again', ({ failed }) => failed);
  total('gave_up', 'Receivers that are not asked any more', ({ gaveUp }) => gaveUp);
  total(
    'refused',
    'Receivers that were given up on because they may not be reached',
    ({ refused }) => refused,
  );
  gauge('configs', 'Receivers that are told of tasks', ({ configs }) => configs);
  gauge('waiting', 'Receivers that failed, and are asked again', ({ waiting }) => waiting);
  return () => registry.metrics();
}
