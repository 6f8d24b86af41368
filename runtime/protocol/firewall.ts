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
 * What it throws or rejects with denies it, and so does anything else than undefined and true that it comes to. The reason of
 * `refused('...')` is told to the peer; what else is thrown is told to the operator alone.
 */
export type FilterQuery = (
  peer: string,
  toolName: string,
) => undefined | boolean | Promise<undefined | boolean>;

/**
 * What goes out in place of something that an agent has said: the JSON of a result, a report, a question, an error. undefined:
 * nothing does. What it throws keeps it in.
 */
export type SanitizeResponse = (result: JsonValue) => JsonValue | undefined | Promise<JsonValue | undefined>;

/**
 * A proof that whoever has the secret of this system's agents has given out this result: of the SHA-256 of its canonical JSON
 * (RFC 8785), as it goes out, and of the SHA-256 of the DID as UTF-8. At least one byte; what it throws keeps the result in.
 */
export type ZKAttestFunc = (
  responseHash: Uint8Array,
  agentDidHash: Uint8Array,
) => Uint8Array | Promise<Uint8Array>;

/** The card that is shown of an agent, in place of its own. undefined: none is. */
export type CardProvider = (agentId: string) => AgentCard | undefined;

/**
 * What stands beside a result that is attested. JSON.
 *
 * - `did`       whose proof it is.
 * - `sha256`    of the canonical JSON of what is attested, hexadecimal. Whoever checks the proof computes it anew.
 * - `proof`     what `ZKAttestFunc` has made, in base64.
 * - `artifactIds` of what is attested, where that is what a task has made: the JSON is a list of `{artifactId, parts}`.
 */
export const Attestation = z.object({
  did: z.string().min(1),
  sha256: z.hex().length(64),
  proof: z.base64().min(1),
  artifactIds: z.array(z.string()).exactOptional(),
});
export type Attestation = z.infer<typeof Attestation>;

/** Under which key an attestation stands in metadata. */
export const ATTESTATION_URI = 'urn:orrery:a2a:ext:attestation:1';

/**
 * What stands between the agents of a system and those outside (seed 0), whatever they come by. An object of one's own class
 * will do: its hooks are called on it.
 *
 * - `filterQuery`      @default everybody may use what the rules let them
 * - `sanitizeResponse` @default what agents say goes out as it is
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

/** The hooks of one system, asked so that whatever goes wrong in them keeps in what it was about. */
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
