import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ENTRY_PACKAGES } from '../../../runtime/protocol/optional-packages.ts';
import { installedPackage } from '../../fixtures/installed-package.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('the packed package (F-12)', () => {
  const folder = installedPackage();

  it('runs an example from its compiled JavaScript', async () => {
    cpSync(join(ROOT, 'examples/hello.ts'), join(folder, 'hello.ts'));
    const { stdout } = await run(process.execPath, ['hello.ts'], { cwd: folder, timeout: 100_000 });
    expect(stdout.trim()).toBe('HELLO, WORLD!');
  });

  it('starts worker threads from its compiled JavaScript', async () => {
    for (const file of ['supervised-crash.ts', 'crashing.agent.ts']) {
      cpSync(join(ROOT, 'examples', file), join(folder, file));
    }
    const { stdout } = await run(process.execPath, ['supervised-crash.ts'], {
      cwd: folder,
      timeout: 100_000,
    });
    expect(stdout).toContain('pluto is running after 2 restarts');
  });

  it('starts a process from its compiled JavaScript (F-06)', async () => {
    writeFileSync(
      join(folder, 'apart.agent.mjs'),
      `import { capability, defineAgent } from 'orrery';
import { z } from 'zod';
export const where = capability({ id: 'where', description: 'Where', input: z.object({}), output: z.int() });
export const apart = defineAgent({ id: 'apart', name: 'APART', version: '1.0.0', description: 'Apart', tier: 3 })
  .handle(where, () => process.pid);`,
    );
    writeFileSync(
      join(folder, 'apart.mjs'),
      `import { startSystem } from 'orrery';
import { where } from './apart.agent.mjs';
await using system = await startSystem({ agents: [{ module: new URL('./apart.agent.mjs', import.meta.url), isolation: 'process' }] });
console.log((await system.ask(where, {})) !== process.pid, (await system.roster())[0].place.startsWith('process-'));`,
    );
    const { stdout } = await run(process.execPath, ['apart.mjs'], { cwd: folder, timeout: 100_000 });
    expect(stdout.trim()).toBe('true true');
  });

  it('does nothing to a program that imports the entries of its threads and processes', async () => {
    const script = `await import('orrery/worker'); await import('orrery/process'); console.log('alive');`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder, timeout: 100_000 });
    expect(stdout.trim()).toBe('alive');
  });

  it.each([
    [['--input-type=module', '--max-old-space-size=500', '-e']],
    [['--input-type', 'module', '--conditions', 'nothing', '-e']],
    [['-e']],
  ])('starts its threads in a program that Node is given as text: %j', async (words) => {
    const script = `const { startSystem } = await import('orrery');
await using system = await startSystem();
console.log((await system.roster()).length);`;
    const { stdout } = await run(process.execPath, [...words, script], { cwd: folder, timeout: 100_000 });
    expect(stdout.trim()).toBe('0');
  });

  it('loads no server: neither its own packages nor that of Node (DESIGN 1)', async () => {
    const script = `await import('orrery');
console.log(process.moduleLoadList.filter((name) => /^NativeModule (http|https|http2|tls)$/.test(name)).join());`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout.trim()).toBe('');
  });

  it('names all that it needs to serve and has not got (DESIGN 1)', async () => {
    const told = async (call: string): Promise<string> => {
      const script = `import { startSystem } from 'orrery';
import { serveStdio } from 'orrery/gateway';
await using system = await startSystem();
console.log(await ${call}.catch(({ code, message }) => code + ': ' + message));`;
      writeFileSync(join(folder, 'serving.mjs'), script);
      const { stdout } = await run(process.execPath, ['serving.mjs'], { cwd: folder, timeout: 100_000 });
      return stdout.trim();
    };
    expect(await told('system.serve()')).toBe(
      'PEERS_MISSING: The gateway needs hono, @hono/node-server, jose and ipaddr.js, which are not installed: ' +
        'npm install hono @hono/node-server jose ipaddr.js',
    );
    expect(
      await told("system.serve({ a2a: { push: false, signing: { key: { kid: 'k' } } }, mcp: {} })"),
    ).toBe(
      'PEERS_MISSING: The gateway needs hono, @hono/node-server, jose, canonicalize and @modelcontextprotocol/server, ' +
        'which are not installed: npm install hono @hono/node-server jose canonicalize @modelcontextprotocol/server',
    );
    expect(await told('serveStdio(system)')).toBe(
      'PEERS_MISSING: MCP over standard input needs @modelcontextprotocol/server, which is not installed: ' +
        'npm install @modelcontextprotocol/server',
    );
  });

  it.each(Object.entries(ENTRY_PACKAGES))(
    'names all that %s cannot do without and has not got',
    async (entry, missing) => {
      const script = `await import('${entry}').catch(({ code, details }) => console.log(JSON.stringify([code, details])));`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
      const [code, details] = JSON.parse(stdout) as [string, unknown];
      expect(code).toBe('PEERS_MISSING');
      expect(details).toEqual({ what: entry, packages: missing });
    },
  );

  it('brings few packages, and none of the tools that the audit runs', () => {
    const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
    const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));
    const ofPlatforms = /^@napi-rs\/nice-/;
    expect(names.filter((name) => !ofPlatforms.test(name)).toSorted()).toEqual([
      '@dagrejs/dagre',
      '@dagrejs/graphlib',
      '@napi-rs/nice',
      '@opentelemetry/api',
      'bintrees',
      'comlink',
      'escape-goat',
      'isomorphic.js',
      'lib0',
      'orrery',
      'piscina',
      'prom-client',
      'tdigest',
      'xstate',
      'y-protocols',
      'yjs',
      'zod',
    ]);
    const audit = JSON.parse(readFileSync(join(ROOT, 'apps/audit/package.json'), 'utf8'));
    const shared = Object.keys(audit.dependencies).filter((name) => names.includes(name));
    expect(Object.keys(audit.dependencies)).toContain('oxlint');
    expect(shared.filter((name) => !['orrery', 'xstate', 'zod'].includes(name))).toEqual([]);
  });

  it('leads to no source, and holds none', () => {
    const manifest = readFileSync(join(folder, 'node_modules/orrery/package.json'), 'utf8');
    expect(manifest).not.toContain('orrery-source');
    const files = readdirSync(join(folder, 'node_modules/orrery'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => /(?<!\.d)\.ts$/.test(file));
    // What `orrery init` writes is the user's source.
    expect(sources.filter((file) => !file.startsWith('apps/cli/template/'))).toEqual([]);
  });

  it('loads at most 40 files of its own for `import "orrery"`', async () => {
    const script = `import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({ load: (url, context, next) => { loaded.add(url); return next(url, context); } });
await import('orrery');
console.log(JSON.stringify([...loaded]));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    const loaded: readonly string[] = JSON.parse(stdout);
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter((url) => url.includes('/node_modules/orrery/')).length).toBeLessThanOrEqual(40);
  });

  it('loads no package and nothing of the runtime into the thread that watches the host of a process', () => {
    const own = join(folder, 'node_modules/orrery');
    const imported = new Set(['./lifeline.worker.js']);
    for (const file of imported) {
      if (!file.startsWith('.')) continue;
      for (const [, from = ''] of readFileSync(join(own, file), 'utf8').matchAll(/^import .*?"([^"]+)";$/gm))
        imported.add(from.startsWith('.') ? `./${join(dirname(file), from)}` : from);
    }
    expect([...imported].filter((from) => !from.startsWith('.')).toSorted()).toEqual([
      'node:fs',
      'node:net',
      'node:worker_threads',
    ]);
    const bytes = [...imported]
      .filter((from) => from.startsWith('.'))
      .map((file) => statSync(join(own, file)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(8_000);
  });

  it('has tools without any of them', async () => {
    const script = `const { toolsOf } = await import('orrery/tools'); console.log(typeof toolsOf);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout.trim()).toBe('function');
  });
});
