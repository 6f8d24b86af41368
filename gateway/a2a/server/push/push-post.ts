import { isOrreryError, reasonOf } from '../../../../runtime/protocol/errors.ts';
import type { Seams } from '../../../../runtime/protocol/seams.ts';
import type { TaskService } from '../../../../runtime/protocol/task-service.ts';
import { isTaskOver } from '../../../../runtime/protocol/task.ts';
import { type Dialect, A2A_JSON, VERSION_HEADER } from '../../wire/dialect.ts';
import type { StreamItem } from '../../wire/operations.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import type { KeyedSemaphore } from './keyed-semaphore.ts';
import { SIGNATURE_HEADER, TOKEN_HEADER } from './push-claims.ts';
import type { PushNews } from './push-feed.ts';
import type { PushRecord } from './push-record.ts';
import { outcomeOf, type PushOutcome } from './push-retry.ts';
import type { PushSigner } from './push-signer.ts';

/** How a dialect writes news: as an item of a stream, or, before 1.0, as the task itself. */
export type PushDialect = Pick<Dialect, 'version' | 'writeItem'> & {
  readonly write: Pick<Dialect['write'], 'get'>;
};

/** `semaphore`: how many are posted to at once. */
export interface PushPosterDeps {
  readonly seams: Seams;
  readonly tasks: Pick<TaskService, 'get'>;
  readonly fetch: GuardedFetch;
  readonly signer: PushSigner;
  readonly dialects: ReadonlyMap<string, PushDialect>;
  readonly semaphore: KeyedSemaphore;
}

/** One attempt to tell a receiver. `contextId`: of the task. */
export interface PushAttempt {
  readonly record: PushRecord;
  readonly news: PushNews;
  readonly contextId: string;
  readonly signal: AbortSignal;
}

/** Posts news to receivers, a bounded number at once. */
export class PushPoster {
  readonly #deps: PushPosterDeps;

  constructor(deps: PushPosterDeps) {
    this.#deps = deps;
  }

  /** Posts once, when its turn comes. Resolves to the result, also a failure. Rejects when the signal aborts before that. */
  async post(attempt: PushAttempt): Promise<PushOutcome> {
    const { record, signal } = attempt;
    const { host } = new URL(record.config.url);
    const { principalId, tenant } = record.owner;
    const leave = await this.#deps.semaphore.enter(
      [`host ${host}`, `owner ${JSON.stringify([tenant ?? null, principalId])}`],
      signal,
    );
    try {
      const body = this.#bodyOf(attempt);
      const headers = await headersOf(attempt, body, this.#deps);
      const { status, retryAfterMs } = await this.#deps.fetch({
        url: record.config.url,
        headers,
        body,
        signal,
      });
      return outcomeOf(status, retryAfterMs);
    } catch (error) {
      const isRefused = isOrreryError(error) && error.code === 'INVALID_PAYLOAD';
      return { kind: isRefused ? 'refused' : 'failed', reason: reasonOf(error) };
    } finally {
      leave();
    }
  }

  #bodyOf({ record, news, contextId }: PushAttempt): Uint8Array {
    const { dialects, tasks } = this.#deps;
    const dialect = dialects.get(record.dialect);
    if (dialect === undefined) throw new Error(`Nobody here speaks A2A ${record.dialect}`);
    const isWholeTask = record.dialect.startsWith('0.') && dialect.write.get !== undefined;
    const said = isWholeTask
      ? dialect.write.get?.(tasks.get(record.owner, record.config.taskId))
      : dialect.writeItem(itemOf(record, news, contextId));
    return new TextEncoder().encode(JSON.stringify(said));
  }
}

function itemOf({ config }: PushRecord, change: PushNews, contextId: string): StreamItem {
  const isLast = change.kind === 'status' && isTaskOver(change.state);
  return { kind: 'change', taskId: config.taskId, contextId, change, isLast };
}

async function headersOf(
  { record, news }: PushAttempt,
  body: Uint8Array,
  { seams, signer }: Pick<PushPosterDeps, 'seams' | 'signer'>,
): Promise<Record<string, string>> {
  const { taskId, id, url, token, authentication } = record.config;
  const signature = await signer.sign(body, {
    origin: new URL(url).origin,
    taskId,
    id: `${taskId}/${id}/${news.generation}`,
    attemptId: seams.newId(),
    nowMs: seams.clock.now(),
  });
  const authorization = authorizationOf(authentication, signature);
  return {
    'Content-Type': record.dialect.startsWith('0.') ? 'application/json' : A2A_JSON,
    [VERSION_HEADER]: record.dialect,
    'User-Agent': 'orrery',
    [SIGNATURE_HEADER]: signature,
    ...(token === undefined ? {} : { [TOKEN_HEADER]: token }),
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
}

/** The Authorization header. A receiver that wants a bearer token and gave none gets the signature as one. */
function authorizationOf(
  authentication: PushRecord['config']['authentication'],
  signature: string,
): string | undefined {
  if (authentication === undefined) return undefined;
  const { scheme, credentials } = authentication;
  if (credentials !== undefined) return `${scheme} ${credentials}`;
  return scheme.toLowerCase() === 'bearer' ? `Bearer ${signature}` : undefined;
}
