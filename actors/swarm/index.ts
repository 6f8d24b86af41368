export type { AgentPort, PortMessage, Work } from '../agent-port/agent-port.ts';
export { routerPort, type RouterPortOptions } from '../agent-port/router-port.ts';
export { AssignmentNote, assignmentIn } from '../../runtime/protocol/assignment-note.ts';
export { type HostSwarmsOptions, hostSwarms, swarmInterceptor, swarmsOf } from './agent-swarms.ts';
export { SwarmCoordinator, type SwarmCoordinatorOptions } from './swarm-coordinator.ts';
export { SwarmNotice } from './swarm-notifier.ts';
export { SwarmLimits } from './swarm-record.ts';
export type { SubTaskOutcome, SwarmOutcome } from './swarm-outcome.ts';
export { SubTaskPlan, type SwarmPlanner, type SwarmTask } from './swarm-plan.ts';
export type { Negotiator, SwarmEvent } from './swarm-reach.ts';
export { SwarmRecord } from './swarm-record.ts';
export { SwarmAnswer, SwarmRequest } from './swarm-requests.ts';
export {
  Assignment,
  AssignmentEnd,
  LateReport,
  PartialResult,
  SubTaskStatus,
  SwarmFault,
  SwarmSession,
  SwarmStatus,
  SwarmSubTask,
} from './swarm-session.ts';
export { InMemorySwarmStore, type SwarmStore } from './swarm-store.ts';
export type { CreateSwarmOptions, ReportOptions, Swarms } from './swarms.ts';
