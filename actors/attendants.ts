import type { Attendant } from '../runtime/public.ts';
import { negotiationAttendant } from './negotiator/attendant.ts';
import { documentAttendant } from './shared-state/attendant.ts';
import { swarmAttendant } from './swarm/attendant.ts';
import { privilegeAttendant } from './tasks/privilege-attendant.ts';
import { toolAttendant } from './tools/attendant.ts';

/** Who attends to every agent of a thread. The embedder has one more: what its tasks wait for is approved there. */
export const agentAttendants: readonly Attendant[] = [
  negotiationAttendant,
  swarmAttendant,
  documentAttendant,
  toolAttendant,
  privilegeAttendant,
];
