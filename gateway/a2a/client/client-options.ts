import { z } from 'zod';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';

/** The request that credentials are made for. A signature may cover the body. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

type MakeHeaders = (
  request: OutgoingRequest,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

const Credentials = z.union(
  [
    z.strictObject({ bearer: z.string().min(1) }),
    z.strictObject({ apiKey: z.string().min(1), header: z.string().min(1).default('X-API-Key') }),
    z.strictObject({
      headers: z.custom<MakeHeaders>((value) => typeof value === 'function', 'a function'),
    }),
  ],
  '{ bearer }, { apiKey, header? } or { headers }',
);
/**
 * Credentials of a client: `{ bearer }`, a token; `{ apiKey, header? }`; or `{ headers }`, a function that makes headers for
 * each request. They are sent only to the agent's own origin and to `allowedOrigins`.
 */
export type Credentials = z.output<typeof Credentials>;

const Bytes = z.int().positive();
const Pem = z.string().min(1);
const Binding = z.enum(['JSONRPC', 'HTTP+JSON']);
const Version = z.enum(['1.0', '0.3', '0.1']);
const Jwk = z.looseObject({ kty: z.string(), kid: z.string().min(1) });

/**
 * - `credentials`    how the client proves who it is. @default not at all
 * - `prefer`         which binding and version are tried first, where the card has them. @default the newest version, and the
 *                    card's own order
 * - `allowedOrigins` where a card may send the client beside the card's own origin.
 * - `trust`          `keys` that sign cards there, each with its `kid`, or `jwks`, where they are found (RFC 7517).
 * - `requireSignedCard` refuses a card that none of these keys has signed. @default true with `trust`
 * - `tls`            certificate authorities to trust, and the client's own certificate: PEM. @default Node's authorities
 * - `idleMs`         how long nothing may arrive; each arrival starts the time anew. @default 30,000
 * - `maxAnswerBytes` of one answer, or of one event. @default 32 MiB
 * - `maxStreamBytes` of the streams of one call, in all. @default 256 MiB
 * - `attempts`       how often a call is tried in all, if that is safe. @default 4
 * - `backoffMs`      before the second attempt; doubled before each other one. @default 250
 * - `maxBackoffMs`   the longest wait between two attempts, or between two questions about a task. If the other side asks for a
 *                    longer wait, the call fails with `retryAfterMs` in its error's details. @default 10,000
 * - `cardMaxAgeMs`   how long a card is kept if it does not say so itself. @default 60,000
 * - `extensions`     URIs to activate beside our own.
 */
export const ClientOptions = z.strictObject({
  credentials: Credentials.optional(),
  prefer: z.strictObject({ binding: Binding.optional(), version: Version.optional() }).default({}),
  allowedOrigins: z.array(z.url().transform((url) => new URL(url).origin)).default([]),
  trust: z
    .strictObject({ keys: z.array(Jwk).min(1).optional(), jwks: z.instanceof(URL).optional() })
    .refine(({ keys, jwks }) => (keys === undefined) !== (jwks === undefined), 'either keys or jwks')
    .optional(),
  requireSignedCard: z.boolean().optional(),
  tls: z
    .strictObject({
      ca: z.union([Pem, z.array(Pem).readonly()]).optional(),
      cert: Pem.optional(),
      key: Pem.optional(),
    })
    .default({}),
  idleMs: Milliseconds.default(30_000),
  maxAnswerBytes: Bytes.default(32 * 1024 * 1024),
  maxStreamBytes: Bytes.default(256 * 1024 * 1024),
  attempts: z.int().min(1).max(100).default(4),
  backoffMs: Milliseconds.default(250),
  maxBackoffMs: Milliseconds.default(10_000),
  cardMaxAgeMs: z.number().nonnegative().default(60_000),
  extensions: z.array(z.string().min(1)).default([]),
});
export type ClientOptions = z.input<typeof ClientOptions>;
export type ClientSettings = z.output<typeof ClientOptions>;
