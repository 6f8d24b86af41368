import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { randomNonce } from '../../../runtime/protocol/signing.ts';
import { invalidParams } from './mcp-errors.ts';

/** How long a client may take to answer, milliseconds. */
const TTL_MS = 3_600_000;

/** What a `requestState` holds: the answers so far by name, what they are for, and when they expire. */
const Carried = z.strictObject({
  of: z.string(),
  given: z.record(z.string(), z.json()),
  untilMs: z.number(),
});

/**
 * Signs and verifies `requestState`, so that a client can return it only unchanged, for the same purpose, in time. It is not
 * encrypted: it holds what the client has sent itself.
 */
export class RequestStates {
  readonly #key: string;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(key: string | undefined, clock: Pick<Clock, 'now'>) {
    this.#key = key ?? randomNonce();
    this.#clock = clock;
  }

  /** Signs answers. `of` is their purpose, such as the caller and the tool. */
  seal(of: string, given: Readonly<Record<string, unknown>>): string {
    const body = Buffer.from(JSON.stringify({ of, given, untilMs: this.#clock.now() + TTL_MS }));
    const text = body.toString('base64url');
    return `${text}.${this.#signatureOf(text).toString('base64url')}`;
  }

  /** Verifies a state and returns its answers. Throws INVALID_PARAMS if it is forged, expired, or for another purpose. */
  open(of: string, state: unknown): Readonly<Record<string, unknown>> {
    const carried = typeof state === 'string' ? this.#read(state) : undefined;
    if (carried === undefined || carried.of !== of || carried.untilMs < this.#clock.now())
      throw invalidParams('Invalid or expired requestState', { reason: 'invalid_request_state' });
    return carried.given;
  }

  #read(state: string): z.infer<typeof Carried> | undefined {
    const [text = '', signature = ''] = state.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.#signatureOf(text);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    try {
      return Carried.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    } catch {
      // Another program with the same key may have signed it.
      return undefined;
    }
  }

  #signatureOf(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
