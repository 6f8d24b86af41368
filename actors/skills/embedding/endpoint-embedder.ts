import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type EmbeddingModel, embedMany } from 'ai';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { ActorContext } from '../../../runtime/public.ts';
import type { Embedder } from './embedder.ts';
import type { EmbeddingEndpoint } from './embedding-options.ts';
import { embeddingFailure, noAnswerWithin } from './embedding-failure.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { vectorsGiven } from './vectors-given.ts';

export interface EndpointDeps {
  readonly ctx: Pick<ActorContext, 'self' | 'effect'>;
  readonly clock: Pick<Clock, 'setTimer'>;
  /** Sent as a bearer token; never in an error. */
  readonly apiKey: string | undefined;
  /** @default the global one */
  readonly fetch?: typeof fetch | undefined;
}

/** The embedder whose model is behind an endpoint in the shape of OpenAI's. One effect, `embeddings <agent>`, a request. */
export class EndpointEmbedder implements Embedder {
  readonly model: string;
  readonly #endpoint: EmbeddingEndpoint;
  readonly #deps: EndpointDeps;
  readonly #sdkModel: EmbeddingModel;
  #dimensions: number | undefined;

  constructor(endpoint: EmbeddingEndpoint, deps: EndpointDeps) {
    const { url, model, dimensions } = endpoint;
    // Models that can be told how many dimensions to have give vectors that cannot be compared.
    this.model = dimensions === undefined ? model : `${model}/${dimensions}`;
    this.#endpoint = endpoint;
    this.#deps = deps;
    this.#dimensions = dimensions;
    const provider = createOpenAICompatible({
      name: 'embeddings',
      baseURL: url,
      fetch: boundedFetch(deps.fetch ?? fetch),
      ...(deps.apiKey === undefined ? {} : { apiKey: deps.apiKey }),
    });
    this.#sdkModel = provider.embeddingModel(model);
  }

  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const { batch } = this.#endpoint;
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += batch) {
      signal?.throwIfAborted();
      vectors.push(...(await this.#embedBatch(texts.slice(from, from + batch), signal)));
    }
    return vectors;
  }

  async #embedBatch(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    const { ctx } = this.#deps;
    const given = await ctx.effect<unknown>(`embeddings ${ctx.self}`, (stopped) =>
      this.#ask(texts, signal === undefined ? stopped : AbortSignal.any([stopped, signal])),
    );
    const { url, model } = this.#endpoint;
    const expected = { texts: texts.length, dimensions: this.#dimensions };
    const vectors = vectorsGiven(given, expected, (reason) => remoteFailed(url, reason, { model }));
    this.#dimensions ??= vectors[0]?.length;
    return vectors;
  }

  async #ask(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { clock, apiKey } = this.#deps;
    const { url, model, dimensions, timeoutMs } = this.#endpoint;
    const late = new AbortController();
    const stopTimer = clock.setTimer(timeoutMs, () => late.abort(noAnswerWithin(url, timeoutMs)));
    try {
      const { embeddings } = await embedMany({
        model: this.#sdkModel,
        values: [...texts],
        ...(dimensions === undefined ? {} : { dimensions }),
        abortSignal: AbortSignal.any([signal, late.signal]),
        maxRetries: 0,
        telemetry: { isEnabled: false },
      });
      return embeddings;
    } catch (error) {
      signal.throwIfAborted();
      late.signal.throwIfAborted();
      throw isOrreryError(error) ? error : embeddingFailure(error, { url, model, secret: apiKey });
    } finally {
      stopTimer();
    }
  }
}
