import { remoteFailed } from '../../../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../../../runtime/protocol/errors.ts';
import { parseShallowJson } from '../../../../runtime/protocol/json.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import type { ClientSettings } from '../client-options.ts';
import type { HttpAnswer, HttpCalls } from '../http-calls.ts';
import { retryAfterMsOf } from '../../../../runtime/protocol/retry-after.ts';
import { errorOf, saidInBody } from '../remote-errors.ts';
import { credentialHeaders } from '../request-headers.ts';
import { type RemoteCard, readCard } from './remote-card.ts';
import type { VerifyCard } from './verify-card.ts';
import { A2A_JSON, VERSION_HEADER } from '../../wire/dialect.ts';

/** Paths of cards: since 0.3, and before (C-01). */
const PATHS = ['.well-known/agent-card.json', '.well-known/agent.json'];

export interface CardDeps {
  readonly calls: HttpCalls;
  readonly settings: ClientSettings;
  readonly clock: Pick<Clock, 'now'>;
  readonly verify: VerifyCard;
}

interface Found {
  readonly at: URL;
  readonly card: RemoteCard;
  readonly etag: string | undefined;
  readonly untilMs: number;
}

/** Finds the card of one agent, and keeps it as long as it says. Then it asks again by the ETag. */
export class CardFinder {
  readonly #deps: CardDeps;
  readonly #base: URL;
  #found: Found | undefined;

  /** `base` is the URL of the agent, or of the card itself. */
  constructor(base: URL, deps: CardDeps) {
    this.#base = base;
    this.#deps = deps;
  }

  /**
   * Resolves to the card. Rejects with REMOTE_UNREACHABLE, with REMOTE_FAILED if there is none, with INVALID_CARD naming every
   * field at fault, and with UNAUTHENTICATED if its signature is missing or wrong.
   */
  async card(signal?: AbortSignal): Promise<RemoteCard> {
    const found = this.#found;
    if (found !== undefined && this.#deps.clock.now() < found.untilMs) return found.card;
    this.#found = found === undefined ? await this.#probe(signal) : await this.#again(found, signal);
    return this.#found.card;
  }

  async #probe(signal: AbortSignal | undefined): Promise<Found> {
    let missing: unknown;
    for (const at of placesOf(this.#base)) {
      try {
        return await this.#fetch(at, undefined, signal);
      } catch (error) {
        if (!isNotThere(error)) throw error;
        missing = error;
      }
    }
    throw missing;
  }

  async #again(found: Found, signal: AbortSignal | undefined): Promise<Found> {
    return await this.#fetch(found.at, found, signal);
  }

  async #fetch(at: URL, known: Found | undefined, signal: AbortSignal | undefined): Promise<Found> {
    const { calls, settings, clock, verify } = this.#deps;
    const proof = await credentialHeaders(settings, { method: 'GET', url: at.href, body: '' });
    const answer = await calls.call({
      method: 'GET',
      url: at,
      headers: {
        accept: `application/json, ${A2A_JSON}`,
        [VERSION_HEADER]: '1.0',
        ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
        ...proof,
      },
      idleMs: settings.idleMs,
      maxBytes: settings.maxAnswerBytes,
      signal,
    });
    const untilMs = clock.now() + maxAgeOf(answer, settings.cardMaxAgeMs);
    const text = await textOf(answer);
    if (answer.status === 304 && known !== undefined) return { ...known, untilMs };
    const value = parsed(text);
    if (answer.status !== 200) {
      const retryAfterMs = retryAfterMsOf(answer.headers['retry-after'], clock.now());
      throw errorOf(at.origin, saidInBody(value, answer.status, retryAfterMs));
    }
    if (value === undefined)
      throw remoteFailed(at.origin, `${at.pathname} is not JSON`, { status: 200, noCard: true });
    const card = readCard(await verify(value, at), at);
    return { at, card, etag: answer.headers.etag, untilMs };
  }
}

/** The URLs to try. A URL that ends in `.json` is that of the card. */
function placesOf(base: URL): readonly URL[] {
  if (base.pathname.endsWith('.json')) return [base];
  const folder = new URL(base.href);
  folder.search = '';
  folder.hash = '';
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  return PATHS.map((path) => new URL(path, folder));
}

/** Whether the error means that there is no card at this URL: the next one may have it. */
function isNotThere(error: unknown): boolean {
  if (!isOrreryError(error)) return false;
  const { remote, noCard } = error.details as { remote?: { status?: number }; noCard?: boolean };
  return noCard === true || remote?.status === 404 || remote?.status === 405 || remote?.status === 410;
}

async function textOf({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses a text; undefined if it is no JSON, or nested too deeply. */
function parsed(text: string): unknown {
  try {
    return parseShallowJson(text);
  } catch {
    return undefined;
  }
}

const SECOND = 1_000;

function maxAgeOf({ headers }: HttpAnswer, otherwiseMs: number): number {
  const control = headers['cache-control'] ?? '';
  if (/no-store|no-cache/.test(control)) return 0;
  const seconds = /max-age=(\d+)/.exec(control)?.[1];
  return seconds === undefined ? otherwiseMs : Math.min(Number(seconds) * SECOND, otherwiseMs);
}
