import type { GatewayPart } from './gateway-part.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * - `text`  of the system and of the gateway.
 * - `allow` rejects when the request may not see it.
 */
export interface MetricsPartOptions {
  readonly text: () => Promise<string>;
  readonly allow: (request: Request) => Promise<void>;
}

/** `GET /metrics`: what is counted, for Prometheus. */
export const metricsPart = ({ text, allow }: MetricsPartOptions): GatewayPart => ({
  name: 'metrics',
  routes: [{ method: 'GET', path: '/metrics', serves: 'what is counted, for Prometheus' }],
  mount: (app) => {
    app.get('/metrics', async ({ req, body }) => {
      await allow(req.raw);
      return body(await text(), 200, { 'content-type': CONTENT_TYPE });
    });
  },
});
