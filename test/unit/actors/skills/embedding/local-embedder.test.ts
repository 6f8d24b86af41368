import { describe, expect, it } from 'vitest';
import { localEmbedder } from '../../../../../actors/skills/embedding/local-embedder.ts';
import embedLocally from '../../../../../actors/skills/embedding/local-model.offload.ts';
import { cosine, vectorOf } from '../../../../../actors/skills/search/vector.ts';

const VECTOR = new Float32Array(384);

/** A CPU pool that answers at once, and what it was asked. */
function poolThat(answer: (texts: readonly string[]) => unknown) {
  const asked: { readonly module: URL; readonly texts: readonly string[]; readonly options: unknown }[] = [];
  const offload = async <Input, Output>(module: URL, input: Input, options?: unknown): Promise<Output> => {
    const texts = input as readonly string[];
    asked.push({ module, texts, options });
    return (await answer(texts)) as Output;
  };
  return { asked, embedder: localEmbedder({ offload }) };
}

describe('The local embedder', () => {
  it('has the CPU pool compute, in turns of 4 texts', async () => {
    const { asked, embedder } = poolThat((texts) => texts.map((text) => VECTOR.map(() => Number(text))));
    const texts = Array.from({ length: 10 }, (_, at) => `${at}`);
    const vectors = await embedder.embed(texts);
    expect(vectors.map((vector) => `${vector[0]}`)).toEqual(texts);
    expect(asked.map((one) => one.texts.length)).toEqual([4, 4, 2]);
    expect(asked[0]?.module.pathname).toMatch(/local-model\.offload\.ts$/);
  });

  it('has the model stay loaded for whoever asks after a pause', async () => {
    const { asked, embedder } = poolThat(() => [VECTOR]);
    await embedder.embed(['text']);
    expect(asked.map(({ options }) => options)).toEqual([{ keepsLoaded: true }]);
  });

  it('asks for nothing where there are no texts', async () => {
    const { asked, embedder } = poolThat(() => []);
    expect(await embedder.embed([])).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('waits no longer than its caller does, and begins no other turn', async () => {
    const caller = new AbortController();
    const { asked, embedder } = poolThat(() => new Promise(() => undefined));
    const embedding = embedder.embed(Array(40).fill('text'), caller.signal);
    caller.abort(new Error('nobody waits'));
    await expect(embedding).rejects.toThrow('nobody waits');
    await expect(embedder.embed(['text'], caller.signal)).rejects.toThrow('nobody waits');
    expect(asked).toHaveLength(1);
  });

  it.each<[string, (texts: readonly string[]) => unknown, string]>([
    ['a vector too few', (texts) => texts.slice(1).map(() => VECTOR), 'it gave 1 vectors for 2 texts'],
    [
      'other dimensions',
      (texts) => texts.map(() => new Float32Array(3)),
      'has 3 dimensions, those before 384',
    ],
    ['numbers that are none', (texts) => texts.map(() => VECTOR.map(() => Number.NaN)), 'not finite'],
    ['nothing', () => undefined, 'no list of vectors'],
    ['words', (texts) => texts, 'is no list of numbers'],
  ])('fails where the model gives %s', async (_what, answer, reason) => {
    await expect(poolThat(answer).embedder.embed(['one', 'two'])).rejects.toMatchObject({
      code: 'MODULE_INVALID',
      message: expect.stringContaining(reason),
    });
  });
});

describe('The local model', () => {
  it('brings texts of like meaning near each other', async () => {
    const [asked, like, unlike] = (
      await embedLocally([
        'How do I get my money back?',
        'Customers can ask for a refund.',
        'The build machines have forty cores.',
      ])
    ).map(vectorOf) as [
      ReturnType<typeof vectorOf>,
      ReturnType<typeof vectorOf>,
      ReturnType<typeof vectorOf>,
    ];
    expect(cosine(asked, like)).toBeGreaterThan(cosine(asked, unlike) + 0.2);
  });

  it('gives a text the same vector whatever texts are beside it, and zeros to one that says nothing', async () => {
    const [alone = VECTOR] = await embedLocally(['a refund']);
    const together = await embedLocally(['', 'a refund', ' \n', 'forty cores', '']);
    expect(together).toHaveLength(5);
    for (const at of [0, 2, 4]) expect(together[at]?.every((value) => value === 0)).toBe(true);
    expect(together[1]).toHaveLength(384);
    for (const [at, value] of (together[1] ?? VECTOR).entries())
      expect(value).toBeCloseTo(alone[at] as number, 5);
    expect(await embedLocally(['', ''])).toEqual([VECTOR, VECTOR]);
  });

  it('takes any text, and reads 2,000 characters of it', async () => {
    // One token a word, so that the model's own limit of 256 tokens comes later.
    const long = 'responsibilities '.repeat(300);
    const [cut, longer, odd] = await embedLocally([
      long.slice(0, 2_000),
      long.repeat(500),
      '\ud800😀中文\u0000',
    ]);
    expect(longer).toEqual(cut);
    expect(odd?.every(Number.isFinite)).toBe(true);
  });
});
