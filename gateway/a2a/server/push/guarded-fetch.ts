import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import {
  type CheckedUrlRules,
  checkedAddresses,
  hostOf,
  mayReach,
  parseForeignUrl,
} from '../../../reach/foreign-url.ts';
import { retryAfterMsOf } from '../../../../runtime/protocol/retry-after.ts';
import { invalidPayload, type OrreryError } from '../../../../runtime/protocol/errors.ts';

/** What is posted. `signal` gives up on it. */
export interface GuardedPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** The receiver's answer. `retryAfterMs`: the earliest time for the next attempt. */
export interface GuardedAnswer {
  readonly status: number;
  readonly retryAfterMs?: number;
}

/** Posts to a receiver that may be called. */
export type GuardedFetch = (post: GuardedPost) => Promise<GuardedAnswer>;

/** `timeoutMs`: for everything, from the look-up of the name to the end of the answer. */
export interface GuardedFetchDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly rules: CheckedUrlRules;
  readonly timeoutMs: number;
}

/** How much of an answer is read before the connection is dropped. */
const MOST_READ_BYTES = 64 * 1024;

/**
 * Posts to a URL that somebody else has chosen. The name is looked up once and its addresses are checked, and the connection
 * goes to one of these. A redirect is an answer like any other, no proxy is used whatever the environment says, and no
 * connection is used twice. An answer counts by its status; of its body no more than 64 KB are read.
 *
 * Rejects with INVALID_PAYLOAD when the URL or an address of it may not be posted to, and with the error of the look-up or
 * the connection.
 */
export function guardedFetch({ clock, rules, timeoutMs }: GuardedFetchDeps): GuardedFetch {
  return async ({ url, headers, body, signal }) => {
    const late = new AbortController();
    const cancel = clock.setTimer(timeoutMs, () => {
      late.abort(new Error(`The receiver did not answer within ${timeoutMs} ms`));
    });
    const either = AbortSignal.any([signal, late.signal]);
    try {
      const target = parseForeignUrl(url, rules, refusedReceiver);
      const addresses = await unlessAborted(checkedAddresses(target, rules, refusedReceiver), either);
      const response = await post({ target, addresses, headers, body, rules, signal: either });
      return answerOf(response, clock.now());
    } finally {
      cancel();
    }
  };
}

interface Connection {
  readonly target: URL;
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly rules: CheckedUrlRules;
  readonly signal: AbortSignal;
}

function post({ target, addresses, headers, body, rules, signal }: Connection): Promise<IncomingMessage> {
  const isTls = target.protocol === 'https:';
  const request = (isTls ? httpsRequest : httpRequest)({
    method: 'POST',
    hostname: hostOf(target),
    port: target.port,
    path: `${target.pathname}${target.search}`,
    headers: { ...headers, host: target.host, 'content-length': body.byteLength },
    agent: isTls ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false }),
    lookup: lookUpIn(addresses),
    signal,
  });
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    request.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    // After an upgrade of the protocol Node reports no error.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('The receiver wants to speak another protocol'));
    });
    signal.addEventListener('abort', abort, { once: true });
    let isAnswered = false;
    request.on('close', () => {
      signal.removeEventListener('abort', abort);
      if (!isAnswered) reject(new Error('The receiver closed the connection without an answer'));
    });
    // The address has been checked; this is for a runtime that would connect elsewhere than it was told.
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        const { remoteAddress } = socket;
        if (remoteAddress === undefined || mayReach(remoteAddress, rules)) return;
        request.destroy(new Error(`The connection went to ${remoteAddress}, which was not asked for`));
      });
    });
    request.on('response', (response) => {
      isAnswered = true;
      signal.removeEventListener('abort', abort);
      drain(response, () => resolve(response));
    });
    request.end(body);
  });
}

/** Reads an answer until it ends, breaks or is too long; whichever it is, its status is known. */
function drain(response: IncomingMessage, done: () => void): void {
  let read = 0;
  response.on('data', (chunk: Buffer) => {
    read += chunk.byteLength;
    if (read > MOST_READ_BYTES) response.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', done);
}

/** A `lookup` for Node that answers with the checked addresses. */
function lookUpIn(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const wanted = known.filter(({ family }) => !options.family || familyOf(options.family) === family);
    const [first] = wanted;
    if (first === undefined) callback(new Error('The name has no address of this family'), '');
    else if (options.all === true) callback(null, wanted);
    else callback(null, first.address, first.family);
  };
}

const familyOf = (family: number | string): number =>
  family === 'IPv6' ? 6 : family === 'IPv4' ? 4 : Number(family);

function answerOf({ statusCode = 0, headers }: IncomingMessage, nowMs: number): GuardedAnswer {
  const retryAfterMs = retryAfterMsOf(headers['retry-after'], nowMs);
  return retryAfterMs === undefined ? { status: statusCode } : { status: statusCode, retryAfterMs };
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A receiver is not posted to: `expected` says what its URL should have been. */
export const refusedReceiver = (url: string, expected: string): OrreryError =>
  invalidPayload('push notification config', `url is "${url}", expected ${expected}`);
