import type { Interceptor } from '../../runtime/public.ts';
import { endAgentTools } from './agent-tools.ts';
import { endUpdates, takeUpdate } from './resource-updates.ts';

/** Tells agents and the embedder of resources that change, also while they are busy. */
export const toolInterceptor: Interceptor = {
  types: new Set(['stream-data']),
  owed: new Set(),
  handlers: new Map(),
  arrived: takeUpdate,
  lost: () => undefined,
  ended: (client) => {
    endAgentTools(client);
    endUpdates(client);
  },
};
