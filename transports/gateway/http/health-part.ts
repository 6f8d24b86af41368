import type { GatewayPart } from './gateway-part.ts';
import type { Trouble } from './health.ts';

/**
 * - `troubles`      what is wrong now.
 * - `mayReadWhat`   whether the request may see which agent, and why; everybody may see what sort of trouble there is.
 */
export interface HealthPartOptions {
  readonly troubles: () => Promise<readonly Trouble[]>;
  readonly mayReadWhat: (request: Request) => Promise<boolean>;
}

/** `GET /healthz`: 200 while all is well, else 503 and what is not. */
export const healthPart = ({ troubles, mayReadWhat }: HealthPartOptions): GatewayPart => ({
  name: 'health',
  routes: [{ method: 'GET', path: '/healthz', serves: 'whether all is well' }],
  mount: (app, { closing }) => {
    app.get('/healthz', async ({ req, json }) => {
      const draining: readonly Trouble[] = closing.aborted
        ? [{ kind: 'draining', what: 'the gateway closes' }]
        : [];
      const found = [...draining, ...(await troubles())];
      if (found.length === 0) return json({ status: 'ok' });
      const mayRead = await mayReadWhat(req.raw);
      const told = mayRead ? found : [...new Set(found.map(({ kind }) => kind))].map((kind) => ({ kind }));
      return json({ status: 'degraded', troubles: told }, 503);
    });
  },
});
