export { type ChainRpcOptions, chainRpc } from './chain-rpc.ts';
export { XPR_HEADERS } from './digest.ts';
export { publicKeyOfPrivate } from './k1-signature.ts';
export { type RequestSigning, signRequest } from './sign-request.ts';
export { trustRating, trustScore } from './trust.ts';
export { type TrustGateOptions, trustGate } from './trust-gate.ts';
export type { XprAccounts, XprAgent } from './xpr-accounts.ts';
export { type XprSignatureOptions, xprSignature } from './xpr-signature.ts';
