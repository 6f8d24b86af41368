import type { Interceptor } from '../runtime/public.ts';
import { negotiationInterceptor } from './negotiator/agent-negotiator.ts';
import { documentInterceptor } from './shared-state/interceptor.ts';
import { swarmInterceptor } from './swarm/agent-swarms.ts';
import { privilegeInterceptor } from './tasks/privilege-interceptor.ts';
import { toolInterceptor } from './tools/interceptor.ts';

/** The interceptors of every thread. The embedder's thread has one more: what its tasks wait for is approved there. */
export const agentInterceptors: readonly Interceptor[] = [
  negotiationInterceptor,
  swarmInterceptor,
  documentInterceptor,
  toolInterceptor,
  privilegeInterceptor,
];
