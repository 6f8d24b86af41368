export type {
  AdmissionRule,
  Authenticator,
  EdgeRequest,
  RequestMemory,
  RequestTimes,
} from '../../runtime/protocol/admission.ts';
export type {
  FilterQuery,
  FirewallGuard,
  FirewallHooks,
  SanitizeResponse,
  ZKAttestFunc,
} from '../../runtime/protocol/firewall.ts';
export { Attestation } from '../../runtime/protocol/firewall.ts';
export { ANONYMOUS, Principal } from '../../runtime/protocol/principal.ts';
export { type AdmissionOptions, admit } from './admit.ts';
export { type ApiKeyOwner, ApiKeyRecord, apiKeys, newApiKey } from './api-keys.ts';
export { type FirewallEvent, firewallGuard, type FirewallGuardDeps } from './firewall-guard.ts';
export { sharedToken } from './shared-token.ts';
export { type SlidingWindowOptions, slidingWindow } from './sliding-window.ts';
