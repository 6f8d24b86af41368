export type {
  AdmissionRule,
  Authenticator,
  EdgeRequest,
  RequestMemory,
  RequestTimes,
} from '../../runtime/protocol/admission.ts';
export { ANONYMOUS, Principal } from '../../runtime/protocol/principal.ts';
export { type AdmissionOptions, admit } from './admit.ts';
export { type ApiKeyOwner, ApiKeyRecord, apiKeys, newApiKey } from './api-keys.ts';
export { sharedToken } from './shared-token.ts';
export { type SlidingWindowOptions, slidingWindow } from './sliding-window.ts';
