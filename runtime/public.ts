export {
  AgentDefinition,
  defineAgent,
  type EnvelopeHandler,
  type Handler,
  type StreamHandler,
} from './agent/agent-definition.ts';
export type { AgentOptions } from './agent/agent-options.ts';
export { Restart } from './supervision/supervisor-options.ts';
export { AgentSupervision } from './supervision/supervisor-options.ts';
export type {
  AgentClient,
  Asking,
  Interceptor,
  Outgoing,
  PrivilegedCall,
  SeenTeam,
  Sent,
} from './cell/interceptor.ts';
export type { Delegation, DelegationRecord } from './cell/delegation.ts';
export { Behalf, behalfOf } from './mailbox/behalf.ts';
export type { AgentRecords, LeftRecord } from './cell/agent-records.ts';
export { clientOf, workOf } from './cell/cell-client.ts';
export { type AgentChannel, type AgentChannelOpener, channelsOf } from './cell/cell-channels.ts';
export type {
  ActorContext,
  AskOptions,
  HandlingContext,
  Progress,
  Sender,
  Target,
  TellOptions,
} from './agent/context.ts';
export type { OffloadOptions } from './agent/offload.ts';
export type { AcceptOptions, ChannelAcceptor } from './channels/agent-channels.ts';
export type { A2AChannel, ChannelSendOptions } from './channels/a2a-channel.ts';
export type { ChannelCounts, ChannelEvent, ChannelIdentity, FrameFault } from './channels/channel-event.ts';
export { ChannelManager, type ChannelManagerOptions } from './channels/channel-manager.ts';
export type { ChannelOptions } from './channels/channel-options.ts';
export type { OpenChannelOptions, PortChannelOptions } from './channels/port-channel-options.ts';
export { type ChannelProof, type ChannelSigner, channelSigner } from './channels/channel-proof.ts';
export type { Admission, AdmitChannel, AskedChannel, HelloRefusal } from './channels/credentials.ts';
export { hideSecrets, hideSecretsIn } from './protocol/hide-secrets.ts';
export {
  A2AMetrics,
  A2AObservability,
  type ObservabilityOptions,
} from './observe/observability.ts';
export {
  MachineFacts,
  NextTimer,
  Outcome,
  SystemEvent,
  SystemEventType,
} from './protocol/system-event.ts';
export * from './protocol/acp-descriptor.ts';
export * from './protocol/agent-card.ts';
export { Budget, Cost } from './protocol/budget.ts';
export {
  type Capability,
  type CapabilityOptions,
  capability,
  describeCapability,
  parseInput,
} from './protocol/capability.ts';
export { ChannelStatus } from './protocol/channel-status.ts';
export * from './protocol/envelope.ts';
export {
  type EnvelopeContent,
  EnvelopeFactory,
  type EnvelopeFactoryDeps,
  type NewEnvelope,
  type NewReply,
} from './protocol/envelope-factory.ts';
export { ErrorData } from './protocol/error-data.ts';
export {
  ERROR_CODES,
  type ErrorCode,
  isOrreryError,
  OrreryError,
  refused,
} from './protocol/errors.ts';
export type { CompletionOptions, ContentLoader, PromptTemplate } from './protocol/offered-content.ts';
export type { JudgePolicy, JudgeRequest, Party, Verdict } from './protocol/policy.ts';
export {
  RoutingConfig,
  SandboxRoutingConfig,
  TierRoutingConfig,
  TierRule,
} from './protocol/routing-config.ts';
export { Refusal, RoutingResult } from './protocol/routing-result.ts';
export * from './protocol/seed-names.ts';
export type { Snapshot, StateIdentity } from './protocol/snapshot.ts';
export { systemSeams } from './protocol/system-seams.ts';
export { Requester } from './protocol/requester.ts';
export type { Taint } from './protocol/taint.ts';
export type { Clock, IdSource, NewId, NewSecret, Random, Seams } from './protocol/seams.ts';
export { type SigningKeyPair, signingKeyPair } from './protocol/signing.ts';
export { keyInFile } from './peers/key-file.ts';
export {
  canJoin,
  type Connection,
  type Frame,
  type Listener,
  type Topic,
  type TopicTransport,
  type TransportSpec,
  type Transport,
  type TransportKind,
} from './protocol/transport.ts';
export { AgentRegistry, type AgentRegistryOptions } from './routing/agent-registry.ts';
export type { DiscoveryManager } from './routing/discovery.ts';
export { type KnownPeersOptions, knownPeers } from './channels/known-peers.ts';
export type { AgentOffer } from './routing/offered-profile.ts';
export type { ReceiveHandler } from './routing/local-delivery.ts';
export type { RegistryView } from './routing/registry-view.ts';
export type { RemoteQuery, RemoteRegistry } from './routing/remote-lookup.ts';
export type { RemoteGrant } from './routing/remote-grant.ts';
export { A2ARouter, type A2ARouterOptions, type SendOptions } from './routing/router.ts';
export { createSystem } from './system/create-system-later.ts';
export type { SystemDeps } from './system/system-deps.ts';
export type { Account } from './system/account.ts';
export type { StopWork, SystemWithStopWork } from './system/stop-work.ts';
export type { SystemChannels } from './system/system-channels.ts';
export type {
  AgentUpgrade,
  ResumeOptions,
  UpgradeOptions,
  UpgradeResult,
  Upgrading,
} from './system/upgrading.ts';
export type {
  JournalRecord,
  JournalRecords,
  TeamAgent,
} from './system/journal-records.ts';
export type { Upgraded } from './control/upgrades.ts';
export type { JournalFile } from './journal/journal-file.ts';
export type { JournalledAgent } from './journal/journal-survey.ts';
export type { JournalCheck } from './journal/check-journal.ts';
export type { Salvaged } from './journal/salvage.ts';
export { backupJournal, checkJournal, openJournal, salvageJournal } from './journal/open-journal.ts';
export type { LoopSender, System } from './system/system.ts';
export type { DrawnState, DrawnTransition, MachineDrawing } from './protocol/machine-drawing.ts';
export type { StepWatch, WatchedStep } from './protocol/step-watch.ts';
export { InspectOptions } from './protocol/inspect-options.ts';
export {
  type ActorRow,
  type AgentStatus,
  RosterOptions,
  type RosterRow,
  type SupervisionRow,
} from './protocol/roster.ts';
export type { Conservation } from './protocol/conservation.ts';
export type { DeadLetter } from './protocol/dead-letter.ts';
export type { Logger, LogLevel } from './observe/logger.ts';
export type { TraceContext } from './protocol/trace-context.ts';
export type {
  Span,
  SpanAttributes,
  SpanFault,
  SpanKind,
  SpanOptions,
  Tracer,
} from './protocol/tracer.ts';
export type { FoundPeer, PeerIdentity, PeerOptions } from './system/peer-options.ts';
export type { SystemPeers } from './system/system-peers.ts';
export type { PeerRow } from './protocol/peer-row.ts';
export type { RefusedPeer } from './protocol/refused-peer.ts';
export type { AgentSpec, ModuleAgent, SystemOptions } from './system/system-options.ts';
