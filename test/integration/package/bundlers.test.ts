import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rollup } from '@rollup/wasm-node';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { describe, expect, it } from 'vitest';
import { installedPackage } from '../../fixtures/installed-package.ts';

const run = promisify(execFile);

const AGENT = `import { capability, defineAgent } from 'orrery';
import { z } from 'zod';
export const double = capability({ id: 'double', description: 'Twice', input: z.int(), output: z.int() });
export const doubler = defineAgent({ id: 'doubler', name: 'D', version: '1.0.0', description: 'Doubles', tier: 3 })
  .handle(double, (n) => 2 * n);
`;
const APP = `import { startSystem } from 'orrery';
import { double } from './doubler.agent.mjs';
async function main() {
  const module = new URL('./doubler.agent.mjs', process.env.AGENTS);
  const system = await startSystem({ agents: [{ module, isolation: 'thread' }] });
  console.log(await system.ask(double, 21));
  await system.stop();
}
main().catch(({ code, message }) => console.log(code + ': ' + message));
`;
const ADVICE =
  "Leave 'orrery' out of the bundle: --external:orrery for esbuild, external: [/^orrery/] for rollup";

/** A bundle of the app and of its agent, side by side; `withOrrery`: nothing is left out that could be put in. */
type Bundle = (from: string, to: string, withOrrery: boolean) => Promise<unknown>;

const files = (from: string): Record<string, string> => ({
  app: join(from, 'app.mjs'),
  'doubler.agent': join(from, 'doubler.agent.mjs'),
});

const withEsbuild =
  (format: 'esm' | 'cjs'): Bundle =>
  (from, to, withOrrery) =>
    esbuild({
      entryPoints: files(from),
      outdir: to,
      outExtension: { '.js': format === 'esm' ? '.mjs' : '.cjs' },
      bundle: true,
      platform: 'node',
      format,
      logLevel: 'silent',
      // Packages that are no ECMAScript modules call require, which a module has not got.
      external: withOrrery ? ['piscina', 'prom-client'] : ['orrery'],
    });

const withVite: Bundle = (from, to, withOrrery) =>
  vite({
    root: from,
    configFile: false,
    logLevel: 'silent',
    ssr: withOrrery ? { noExternal: true, external: ['piscina', 'prom-client'] } : {},
    build: {
      ssr: true,
      outDir: to,
      rolldownOptions: { input: files(from), output: { entryFileNames: '[name].mjs' } },
    },
  });

const withRollup: Bundle = async (from, to, withOrrery) => {
  const require = createRequire(join(from, 'app.mjs'));
  const bundle = await rollup({
    input: files(from),
    external: withOrrery
      ? [/^node:/, 'piscina', 'prom-client', 'zod', 'xstate', 'comlink']
      : [/^orrery/, 'zod'],
    plugins: [{ name: 'packages', resolveId: (id) => (/^orrery/.test(id) ? require.resolve(id) : null) }],
    onLog: () => undefined,
  });
  await bundle.write({ dir: to, format: 'es', entryFileNames: '[name].mjs' });
};

describe('a program that is bundled (docs/bundling.md)', () => {
  const folder = installedPackage();
  const from = join(folder, 'app');
  mkdirSync(from, { recursive: true });
  writeFileSync(join(from, 'app.mjs'), APP);
  writeFileSync(join(from, 'doubler.agent.mjs'), AGENT);

  const output = async (bundle: Bundle, name: string, withOrrery: boolean, extension = 'mjs') => {
    const to = join(folder, `bundled-${name}`);
    await bundle(from, to, withOrrery);
    const env = { ...process.env, AGENTS: pathToFileURL(`${to}/`).href };
    const { stdout } = await run(process.execPath, [join(to, `app.${extension}`)], { env, timeout: 100_000 });
    return stdout.trim();
  };

  it.each([
    ['esbuild', withEsbuild('esm')],
    ['vite', withVite],
    ['rollup', withRollup],
  ])('by %s without Orrery in it starts its threads', async (name, bundle) => {
    expect(await output(bundle, name, false)).toBe('42');
  });

  it.each([
    ['esbuild', withEsbuild('esm'), 'mjs'],
    ['esbuild into CommonJS', withEsbuild('cjs'), 'cjs'],
    ['vite', withVite, 'mjs'],
    ['rollup', withRollup, 'mjs'],
  ])('by %s with Orrery in it is told to leave it out', async (name, bundle, extension) => {
    const told = await output(bundle, `whole-${name.replaceAll(' ', '-')}`, true, extension);
    expect(told).toMatch(/^MODULE_INVALID: Orrery was bundled with another program\. /);
    expect(told).toContain(ADVICE);
  });
});
