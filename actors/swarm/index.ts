export { type RouterMediumOptions, routerMedium } from './router-medium.ts';
export { AssignmentNote, assignmentIn } from '../../runtime/protocol/assignment-note.ts';
export { swarmInterceptor } from './interceptor.ts';
export { type HostSwarmsOptions, hostSwarms, swarmsOf } from './desk-swarms.ts';
export type { SwarmCoordinatorOptions } from './coordinator-core.ts';
export type { Negotiator } from './recruiter.ts';
export { SwarmCoordinator } from './swarm-coordinator.ts';
export type { SwarmLetter, SwarmMedium } from './swarm-medium.ts';
export { SwarmNotice } from './swarm-notifier.ts';
export { SwarmLimits } from './swarm-record.ts';
export type { SubTaskOutcome, SwarmOutcome } from './swarm-outcome.ts';
export { SubTaskPlan, type SwarmPlanner, type SwarmTask } from './swarm-plan.ts';
export type { SwarmEvent } from './swarm-reach.ts';
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
