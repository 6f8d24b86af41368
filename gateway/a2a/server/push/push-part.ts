import type { GatewayPart } from '../../../http/gateway-part.ts';
import type { PushService } from './push-service.ts';
import type { PushSigner } from './push-signer.ts';

const PATH = '/.well-known/jwks.json';
const MAX_AGE_S = 300;

/** Serves the keys by which receivers of push notifications verify them, and ends the telling when the gateway ends. */
export function pushPart({
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
