export {
  CRDTSyncChannel,
  type SyncChannelDeps,
  type SyncChannelOptions,
  type SyncCounts,
} from './crdt-sync-channel.ts';
export { type DocumentRecords, JournalledUpdateLog } from './journalled-update-log.ts';
export { type DocumentOptions, documentOf, openDocument } from './open-document.ts';
export { InProcessHub } from './in-process-hub.ts';
export { InMemoryMemberKeys, type MemberKeyPair, type MemberKeys, memberKeyPair } from './member-keys.ts';
export {
  EnvelopeMedium,
  type EnvelopeMediumDeps,
  SYNC_SCHEMA,
  syncEnvelope,
  syncMessageOf,
} from './sync-envelope.ts';
export type { SandboxReach } from '../../runtime/protocol/policy.ts';
export type { SyncEvent, SyncEventType, SyncRefusal } from './sync-event.ts';
export type { SyncMedium } from './sync-medium.ts';
export {
  type JudgeJoin,
  type SyncMember,
  SyncMembership,
  type SyncMembershipDeps,
} from './sync-membership.ts';
export { SyncKind, SyncMessage } from './sync-message.ts';
export { SyncLimits } from './sync-options.ts';
export { InMemoryUpdateLog, type LoadedDocument, type SyncSnapshot, type UpdateLog } from './update-log.ts';
