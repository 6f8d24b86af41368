import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OrreryError, startSystem } from 'orrery';

const TIERS = ['thread', 'process'] as const;

describe('An agent whose module is not there', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-missing-'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const urlOf = (name: string): URL => pathToFileURL(join(folder, name));
  const failureOf = (name: string, isolation: (typeof TIERS)[number] = 'thread'): Promise<Error> =>
    startSystem({ agents: [{ module: urlOf(name), isolation }] }).then(
      () => new Error('it has started'),
      (error: Error) => error,
    );

  it.each(TIERS)('is named, and nothing is said twice (%s)', async (isolation) => {
    const [module, reason] = [urlOf('mars.ts').href, 'there is no such file'];
    const error = await failureOf('mars.ts', isolation);
    expect(error).toMatchObject({ code: 'MODULE_INVALID', details: { module, reason } });
    expect(error.message).toBe(`The agent module ${module} cannot be used: ${reason}`);
    expect((error as OrreryError).details).not.toHaveProperty('stack');
    expect(error.cause).toBeUndefined();
  });

  it.each([
    ['mars.ts', 'mars.js'],
    ['mars.js', 'mars.ts'],
    ['mars.mts', 'mars.mjs'],
  ])('%s has its twin named, if that is there: %s', async (name, twin) => {
    writeFileSync(join(folder, twin), '');
    expect((await failureOf(name)).message).toContain(
      `there is no such file; ${twin} lies beside it: is that the one to name?`,
    );
  });

  it('or that imports one which is not there says so, and where its twin is', async () => {
    writeFileSync(join(folder, 'mars.js'), "import './venus.ts';\n");
    writeFileSync(join(folder, 'venus.js'), '');
    const { message, cause } = await failureOf('mars.js');
    expect(message).toMatch(
      /importing it failed: Cannot find module '.*venus\.ts'.*; venus\.js lies beside it/,
    );
    expect((cause as Error).stack).toContain('ERR_MODULE_NOT_FOUND');
  });
});
