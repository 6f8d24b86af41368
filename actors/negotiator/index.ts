export type { AgentPort, PortMessage, Work } from '../agent-port/agent-port.ts';
export { routerPort, type RouterPortOptions } from '../agent-port/router-port.ts';
export {
  CAPABILITY_NEGOTIATION,
  CAPABILITY_NEGOTIATION_RESPONSE,
  CapabilityNegotiation,
  CapabilityNegotiationResponse,
  readNegotiation,
  readNegotiationResponse,
  SuggestedAgent,
} from './capability-negotiation.ts';
export { type Decide, type Decision, decideByCard, decline, takeOn } from './decision.ts';
export {
  AcceptanceMessage,
  AssignmentMessage,
  ProposalMessage,
  REASON,
  RejectionMessage,
} from './negotiation-message.ts';
export { proposerMachine } from './proposer.machine.ts';
export { responderMachine } from './responder.machine.ts';
export { TaskNegotiator, type TaskNegotiatorOptions } from './task-negotiator.ts';
export {
  capabilityNegotiation,
  matchCapabilities,
  type NegotiationOffer,
  negotiateCapabilities,
  offersCapabilities,
} from './capability-handlers.ts';
export type { Received } from './negotiator.ts';
export { negotiatorMachine } from './negotiator.machine.ts';
export {
  AnswerEffect,
  NewTaskProposal,
  ProposalAnswer,
  ProposalRecord,
  ProposalStatus,
  ProposeOptions,
  TaskProposal,
} from './proposal.ts';
export type { NegotiationEvent, NegotiationEventType } from './proposal-event.ts';
export { InMemoryProposalStore, PersistedProposal, type ProposalStore } from './proposal-store.ts';
