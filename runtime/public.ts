export { AgentDefinition, type AgentOptions, defineAgent, type Restart } from './actor/agent-definition.ts';
export type {
  ActorContext,
  AskOptions,
  HandlingContext,
  Progress,
  Sender,
  Target,
  TellOptions,
} from './actor/context.ts';
export type { Outcome, SystemEvent, SystemEventType } from './observe/system-event.ts';
export * from './protocol/agent-card.ts';
export {
  type Capability,
  type CapabilityOptions,
  capability,
  describeCapability,
  parseInput,
} from './protocol/capability.ts';
export * from './protocol/envelope.ts';
export { ERROR_CODES, type ErrorCode, isOrreryError, OrreryError, refused } from './protocol/errors.ts';
export { Refusal, RoutingResult } from './protocol/routing-result.ts';
export type { Clock, NewId, Random, Seams } from './protocol/seams.ts';
export { createSystem, type SystemDeps } from './system/create-system.ts';
export type { AgentStatus, Conservation, DeadLetter, RosterRow, System } from './system/system.ts';
export type { AgentSpec, SystemOptions } from './system/system-options.ts';
