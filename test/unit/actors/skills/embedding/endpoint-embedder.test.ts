import { describe, expect, it } from 'vitest';
import { EmbeddingEndpoint } from '../../../../../actors/skills/embedding/embedding-options.ts';
import { EndpointEmbedder } from '../../../../../actors/skills/embedding/endpoint-embedder.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const URL_GIVEN = 'http://127.0.0.1:8080/v1';

interface Request {
  readonly url: string;
  readonly key: string | null;
  readonly body: { readonly input: readonly string[]; readonly model: string; readonly dimensions?: number };
}

type Answer = (request: Request, signal: AbortSignal | null | undefined) => Response | Promise<Response>;

const withVectors = (vectors: readonly unknown[]): Response =>
  Response.json({ data: vectors.map((embedding) => ({ embedding })) });
/** A vector of two numbers for each text: its length, and 1. */
const byLength: Answer = ({ body }) => withVectors(body.input.map(({ length }) => [length, 1]));

function embedderAt(
  answer: Answer,
  options: Partial<EmbeddingEndpoint> = {},
  effect?: (name: string) => unknown,
) {
  const requests: Request[] = [];
  const clock = new FakeClock();
  const stopping = new AbortController();
  const embedder = new EndpointEmbedder(
    EmbeddingEndpoint.parse({ url: URL_GIVEN, model: 'small', ...options }),
    {
      clock,
      apiKey: options.apiKey === undefined ? undefined : 'secret-key',
      ctx: {
        self: 'memory',
        effect: async (name, run) =>
          effect === undefined
            ? await run(stopping.signal)
            : (effect(name) as Awaited<ReturnType<typeof run>>),
      },
      fetch: async (url, init) => {
        const request = {
          url: String(url),
          key: new Headers(init?.headers).get('authorization'),
          body: JSON.parse(String(init?.body)) as Request['body'],
        };
        requests.push(request);
        return await answer(request, init?.signal);
      },
    },
  );
  return { embedder, requests, clock, stopping };
}

const noConnection = (message: string): Error => Object.assign(new Error(message), { code: 'ECONNREFUSED' });

const untilAborted: Answer = (_request, signal) =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop);
  });

describe('An embedder behind an endpoint', () => {
  it('asks for the vectors of texts, so many at a time, in their order', async () => {
    const { embedder, requests } = embedderAt(byLength, { batch: 2 });
    const vectors = await embedder.embed(['a', 'bb', 'ccc']);
    expect(vectors.map(([length]) => length)).toEqual([1, 2, 3]);
    expect(requests.map(({ url, key, body }) => [url, key, body.model, body.input])).toEqual([
      [`${URL_GIVEN}/embeddings`, null, 'small', ['a', 'bb']],
      [`${URL_GIVEN}/embeddings`, null, 'small', ['ccc']],
    ]);
    expect(embedder.dimensions).toBe(2);
  });

  it('sends the key, and the dimensions that are wanted', async () => {
    const { embedder, requests } = embedderAt(byLength, { apiKey: 'env:KEY', dimensions: 2 });
    await embedder.embed(['a']);
    expect(requests[0]).toMatchObject({ key: 'Bearer secret-key', body: { dimensions: 2 } });
  });

  it('asks under a name, so that a simulation can answer in place of the model', async () => {
    const names: string[] = [];
    const { embedder, requests } = embedderAt(byLength, {}, (name) => {
      names.push(name);
      return [[0.5, 0.25]];
    });
    expect(await embedder.embed(['a'])).toEqual([Float32Array.from([0.5, 0.25])]);
    expect(names).toEqual(['embeddings memory']);
    expect(requests).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    ['gives a vector too few', () => withVectors([[1, 2]]), 'failed'],
    ['gives vectors of several dimensions', () => withVectors([[1, 2], [1]]), 'vector 1 has 1 dimensions'],
    ['gives empty vectors', () => withVectors([[], []]), 'vector 0 is empty'],
    ['gives numbers too large', () => withVectors([[1e300], [1]]), 'not finite'],
    ['gives no numbers', () => withVectors([['x'], [1]]), 'failed'],
    ['gives no JSON', () => new Response('<html>'), 'failed'],
    [
      'refuses',
      () => Response.json({ error: { message: 'no such model' } }, { status: 404 }),
      'HTTP 404: no such',
    ],
    ['breaks', () => new Response('', { status: 502 }), 'HTTP 502'],
  ])('fails with REMOTE_FAILED where it %s', async (_what, answer, reason) => {
    const { embedder } = embedderAt(answer);
    await expect(embedder.embed(['one', 'two'])).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining(reason),
    });
  });

  it('fails where a simulation answers with another number of vectors', async () => {
    const { embedder } = embedderAt(byLength, {}, () => [[1, 2]]);
    await expect(embedder.embed(['one', 'two'])).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('it gave 1 vectors for 2 texts'),
    });
  });

  it('fails where the dimensions are other than before', async () => {
    let size = 2;
    const { embedder } = embedderAt(({ body }) => withVectors(body.input.map(() => Array(size).fill(1))));
    await embedder.embed(['a']);
    size = 3;
    await expect(embedder.embed(['a'])).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('has 3 dimensions, those before 2'),
    });
  });

  it('fails with REMOTE_UNREACHABLE where nobody is, and never tells the key', async () => {
    const { embedder } = embedderAt(
      () => {
        throw new TypeError('fetch failed', { cause: noConnection('refused the secret-key') });
      },
      { apiKey: 'env:KEY' },
    );
    const error: unknown = await embedder.embed(['a']).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'REMOTE_UNREACHABLE', message: expect.stringContaining('[key]') });
    expect(JSON.stringify(error) + String(error)).not.toContain('secret-key');
  });

  it('fails with REMOTE_UNREACHABLE where no answer comes in time', async () => {
    const { embedder, clock } = embedderAt(untilAborted, { timeoutMs: 500 });
    const embedding = embedder.embed(['a']);
    clock.advance(499);
    clock.advance(1);
    await expect(embedding).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      message: expect.stringContaining('within 500 ms'),
    });
  });

  it('stops waiting with its caller, and with its agent', async () => {
    const caller = new AbortController();
    const { embedder, stopping } = embedderAt(untilAborted);
    const embedding = embedder.embed(['a'], caller.signal);
    caller.abort(new Error('nobody waits'));
    await expect(embedding).rejects.toThrow('nobody waits');
    const other = embedder.embed(['a']);
    stopping.abort(new Error('the agent stops'));
    await expect(other).rejects.toThrow('the agent stops');
  });
});
