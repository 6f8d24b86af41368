import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the packed package (F-12)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-package-'));

  beforeAll(async () => {
    // As in a fresh clone: packing builds.
    rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
    expect(Object.keys(dependencies)).not.toContain('typescript');
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${stdout.trim()}`], {
      cwd: folder,
    });
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('runs an example from its compiled JavaScript', async () => {
    cpSync(join(ROOT, 'examples/hello.ts'), join(folder, 'hello.ts'));
    const { stdout } = await run(process.execPath, ['hello.ts'], { cwd: folder, timeout: 25_000 });
    expect(stdout.trim()).toBe('HELLO, WORLD!');
  });

  it('starts worker threads from its compiled JavaScript', async () => {
    for (const file of ['supervised-crash.ts', 'crashing.agent.ts']) {
      cpSync(join(ROOT, 'examples', file), join(folder, file));
    }
    const { stdout } = await run(process.execPath, ['supervised-crash.ts'], { cwd: folder, timeout: 25_000 });
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
    const { stdout } = await run(process.execPath, ['apart.mjs'], { cwd: folder, timeout: 25_000 });
    expect(stdout.trim()).toBe('true true');
  });

  it('does nothing to a program that imports the entries of its threads and processes', async () => {
    const script = `await import('orrery/worker'); await import('orrery/process'); console.log('alive');`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder, timeout: 25_000 });
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
    const { stdout } = await run(process.execPath, [...words, script], { cwd: folder, timeout: 25_000 });
    expect(stdout.trim()).toBe('0');
  });

  it('loads no server: neither its own packages nor that of Node (DESIGN 1)', async () => {
    const script = `await import('orrery');
console.log(process.moduleLoadList.filter((name) => /^NativeModule (http|https|http2|tls)$/.test(name)).join());`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout.trim()).toBe('');
  });

  it('names what it needs to serve and has not got (DESIGN 1)', async () => {
    writeFileSync(
      join(folder, 'serving.mjs'),
      `import { startSystem } from 'orrery';
await using system = await startSystem();
console.log(await system.serve().catch(({ code, message }) => code + ': ' + message));`,
    );
    const { stdout } = await run(process.execPath, ['serving.mjs'], { cwd: folder, timeout: 25_000 });
    expect(stdout).toMatch(
      /^PEERS_MISSING: system\.serve\(\) needs (\S+), which is not installed: npm install \1\n$/,
    );
  });

  it.each([
    ['mcp', '@modelcontextprotocol/client'],
    ['models', '@ai-sdk/openai-compatible'],
    ['gateway', 'hono'],
  ])('has no orrery/%s without %s, which the failure of the import names', async (entry, missing) => {
    const script = `await import('orrery/${entry}').catch(({ code, message }) => console.log(code + ': ' + message));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout).toContain(`ERR_MODULE_NOT_FOUND: Cannot find package '${missing}'`);
  });

  it('has tools without any of them', async () => {
    const script = `const { toolsOf } = await import('orrery/tools'); console.log(typeof toolsOf);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout.trim()).toBe('function');
  });

  it('has types that a strict project accepts', async () => {
    cpSync(join(ROOT, 'examples/hello.ts'), join(folder, 'hello.ts'));
    const tsconfig = {
      compilerOptions: {
        module: 'NodeNext',
        target: 'ES2024',
        lib: ['ES2024', 'ESNext.Disposable'],
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
        strict: true,
        skipLibCheck: true,
        noEmit: true,
      },
      files: ['hello.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const { stdout } = await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder],
      {
        cwd: folder,
      },
    );
    expect(stdout.trim()).toBe('');
  }, 60_000);
});
