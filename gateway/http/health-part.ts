import type { GatewayPart, RouteContext } from './gateway-part.ts';
import { isFatal, type Trouble } from './health.ts';

/**
 * - `troubles`      what is wrong now.
 * - `mayReadWhat`   whether the request may see which agent; everybody may see what sort of trouble there is.
 */
export interface HealthPartOptions {
  readonly troubles: () => Promise<readonly Trouble[]>;
  readonly mayReadWhat: (request: Request) => Promise<boolean>;
}

/**
 * `GET /healthz`: 200 while the process can go on, else 503: then it is to be started again. `GET /readyz`: 200 while all is
 * well, else 503 and what is not.
 */
export const healthPart = ({ troubles, mayReadWhat }: HealthPartOptions): GatewayPart => ({
  name: 'health',
  routes: [
    { method: 'GET', path: '/healthz', serves: 'whether the process lives' },
    { method: 'GET', path: '/readyz', serves: 'whether all is well' },
  ],
  mount: (app, { closing, fault }) => {
    const answer = async ({ req, json }: RouteContext, found: readonly Trouble[]): Promise<Response> => {
      if (found.length === 0) return json({ status: 'ok' });
      for (const { cause } of found) if (cause !== undefined) fault(cause, req.raw);
      const kinds = [...new Set(found.map(({ kind }) => kind))].map((kind) => ({ kind }));
      const told = (await mayReadWhat(req.raw)) ? found.map(({ kind, what }) => ({ kind, what })) : kinds;
      return json({ status: 'degraded', troubles: told }, 503);
    };
    app.get('/healthz', async (context) => answer(context, (await troubles()).filter(isFatal)));
    app.get('/readyz', async (context) => {
      const draining: readonly Trouble[] = closing.aborted
        ? [{ kind: 'draining', what: 'the gateway closes' }]
        : [];
      return answer(context, [...draining, ...(await troubles())]);
    });
  },
});
