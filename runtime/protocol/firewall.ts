import { z } from 'zod';
import type { AgentCard } from './agent-card.ts';
import type { JsonValue } from './json-value.ts';

/* The hooks of seed 0, by which whoever runs a system decides what those outside may do, and what they are told. */

/**
 * Whether somebody outside may use a tool; asked before anything of it runs.
 *
 * `peer` is who asks, by the id of their principal: a DID where they have one. `toolName` is the full name of a tool or
 * prompt, `agent.name`, or the URI of a resource.
 *
 * Only undefined and true allow it. Any other result denies it, and so does an error. The peer is told the reason of
 * `refused('...')`; only the operator is told other errors.
 */
export type FilterQuery = (
  peer: string,
  toolName: string,
) => undefined | boolean | Promise<undefined | boolean>;

/**
 * Replaces the JSON of an agent's result, report, question or error before it goes out. On undefined, or if it throws, nothing goes
 * out.
 */
export type SanitizeResponse = (result: JsonValue) => JsonValue | undefined | Promise<JsonValue | undefined>;

/**
 * Makes a proof that the holder of this system's secret has given out this result. It gets the SHA-256 of the result's canonical JSON
 * (RFC 8785) as it goes out, and the SHA-256 of the DID as UTF-8. The proof has at least one byte. If it throws, the result does
 * not go out.
 */
export type ZKAttestFunc = (
  responseHash: Uint8Array,
  agentDidHash: Uint8Array,
) => Uint8Array | Promise<Uint8Array>;

/** Returns the card that is shown in place of an agent's own; undefined shows none. */
export type CardProvider = (agentId: string) => AgentCard | undefined;

/**
 * The attestation beside a result, as JSON.
 *
 * - `did`       whose proof it is.
 * - `sha256`    of the canonical JSON of the result, hexadecimal. To check the proof, compute it anew.
 * - `proof`     what `ZKAttestFunc` has made, in base64.
 * - `artifactIds` of the attested artifacts of a task: the JSON is a list of `{artifactId, parts}` then.
 */
export const Attestation = z.object({
  did: z.string().min(1),
  sha256: z.hex().length(64),
  proof: z.base64().min(1),
  artifactIds: z.array(z.string()).exactOptional(),
});
export type Attestation = z.infer<typeof Attestation>;

/** The key of an attestation in metadata. */
export const ATTESTATION_URI = 'urn:orrery:a2a:ext:attestation:1';

/**
 * The hooks between the agents of a system and callers outside (seed 0), over every protocol. It may be an object of your own
 * class: the hooks are called as its methods.
 *
 * - `filterQuery`      @default everybody may use what the policies permit
 * - `sanitizeResponse` @default everything goes out unchanged
 * - `zkAttest`         @default nothing is attested
 * - `did`              whose proofs `zkAttest` makes; it takes one.
 * - `timeoutMs`        after how long a hook is taken to have failed, milliseconds. @default 30 seconds
 */
export interface FirewallHooks {
  readonly filterQuery?: FilterQuery;
  readonly sanitizeResponse?: SanitizeResponse;
  readonly zkAttest?: ZKAttestFunc;
  readonly did?: string;
  readonly timeoutMs?: number;
}

/** Calls the hooks of one system. If a hook fails, nothing goes out. */
export interface FirewallGuard {
  /** Rejects with NOT_PERMITTED. */
  filterQuery(peer: string, toolName: string): Promise<void>;
  /** What is no JSON is given as JSON writes it. Rejects with REFUSED. */
  sanitizeResponse(result: unknown): Promise<JsonValue | undefined>;
  /** Whether anything is attested. */
  readonly attests: boolean;
  /** Rejects with REFUSED; undefined where nothing is attested. */
  attest(result: unknown): Promise<Attestation | undefined>;
}
