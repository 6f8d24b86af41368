export type { AgentPort, PortMessage, Work } from '../agent-port/agent-port.ts';
export { routerPort, type RouterPortOptions } from '../agent-port/router-port.ts';
export { capabilityNegotiation, negotiateCapabilities, offersCapabilities } from './capability-handlers.ts';
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
export { matchCapabilities, type NegotiationOffer } from './match-capabilities.ts';
export type { Received } from './negotiation.ts';
export type { NegotiationEvent, NegotiationEventType } from './negotiation-event.ts';
export {
  AcceptanceMessage,
  AssignmentMessage,
  ProposalMessage,
  REASON,
  RejectionMessage,
} from './negotiation-message.ts';
export { NewTaskProposal, ProposeOptions } from './new-proposal.ts';
export type { AnswerEffect, ProposalAnswer, ProposalRecord } from './proposal-record.ts';
export { ProposalStanding } from './proposal-standing.ts';
export { InMemoryProposalStore, type ProposalStore } from './proposal-store.ts';
export { proposerMachine } from './proposer.machine.ts';
export { responderMachine } from './responder.machine.ts';
export { TaskNegotiator, type TaskNegotiatorOptions } from './task-negotiator.ts';
export { ProposalStatus, TaskProposal } from './task-proposal.ts';
