import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { Admit, GatewayPart } from './gateway-part.ts';
import { z } from 'zod';
import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import { MEMBER_LIMITS } from './json-text.ts';

/** An error, and the request that it belongs to. */
export interface GatewayFault {
  readonly error: unknown;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}

/**
 * - `parts`     the protocols that it speaks.
 * - `admit`     who stands behind a request.
 * - `schemes`   how one can prove that, as announced to whoever has not; none: nobody can.
 * - `hosts`     names that it is reached under, beside those of this machine and plain addresses; 'any' leaves that to
 *               whoever stands before it. @default []
 * - `origins`   of whose pages browsers may use it, such as `https://app.example`. @default []
 * - `publicUrl` under which callers reach it, where that is not what their requests say: behind a proxy.
 * - `onFault`   hears of errors that no caller is told of.
 */
export interface GatewayOptions {
  readonly parts: readonly GatewayPart[];
  readonly admit: Admit;
  readonly schemes?: readonly string[];
  readonly seams: Seams;
  readonly limits?: GatewayLimits;
  readonly hosts?: readonly string[] | 'any';
  readonly origins?: readonly string[];
  readonly publicUrl?: string;
  readonly onFault?: (fault: GatewayFault) => void;
}

/** Throws INVALID_OPTIONS. */
export function parsePublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url;
  throw invalidOptions('publicUrl', text, 'the URL of the gateway, such as https://agents.example');
}

/** Throws INVALID_OPTIONS. */
export function parseOrigin(text: string, at: number): string {
  if (URL.canParse(text) && new URL(text).origin === text && text !== 'null') return text;
  throw invalidOptions(`origins[${at}]`, text, 'an origin, such as https://app.example');
}

const MIB = 1_048_576;

const WholeMs = z.int().positive().max(MAX_TIMER_MS);

/**
 * What a gateway takes at most.
 *
 * - `maxBodyBytes`    of one request. @default 32 MiB
 * - `maxKeys`         of all objects of one body together, as JSON. @default 20,000
 * - `maxElements`     of all its arrays. @default 200,000
 * - `maxBytesInHand`  of the bodies of all requests that are not answered yet; of one address no more than are left for all
 *                      others, but one body at least. @default 256 MiB
 * - `maxRequests`     that are not answered yet, open streams among them. @default 10,000
 * - `maxConnections`  at a time. @default 10,000
 * - `maxHeaderBytes`  of one request. @default 16 KiB
 * - `headersTimeoutMs` until a request's headers are here. @default 10 seconds
 * - `bodyTimeoutMs`   until all of a request is here. @default 2 minutes
 * - `stallTimeoutMs`  how long a caller may leave what it is sent unread. @default 1 minute
 * - `idleTimeoutMs`   how long a connection may wait for the next request. @default 65 seconds
 */
export const GatewayLimits = z.strictObject({
  maxBodyBytes: z
    .int()
    .positive()
    .default(32 * MIB),
  maxKeys: z.int().positive().default(MEMBER_LIMITS.maxKeys),
  maxElements: z.int().positive().default(MEMBER_LIMITS.maxElements),
  maxBytesInHand: z
    .int()
    .positive()
    .default(256 * MIB),
  maxRequests: z.int().positive().default(10_000),
  maxConnections: z.int().positive().default(10_000),
  maxHeaderBytes: z.int().min(1_024).max(MIB).default(16_384),
  headersTimeoutMs: WholeMs.default(10_000),
  bodyTimeoutMs: WholeMs.default(120_000),
  stallTimeoutMs: WholeMs.default(60_000),
  idleTimeoutMs: WholeMs.default(65_000),
});
export type GatewayLimits = z.input<typeof GatewayLimits>;
export type ParsedLimits = z.output<typeof GatewayLimits>;
