import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { installedPackage } from '../../fixtures/installed-package.ts';

const run = promisify(execFile);

/** Has Node say that it is another one, and whatever else is evaluated fail. */
const PRETEND = `import { registerHooks } from 'node:module';
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.12.0' } });
registerHooks({ load: (url, context, next) => {
  if (!url.includes('/node_modules/orrery/') || url.endsWith('/require-node.js')) return next(url, context);
  return { format: 'module', source: next(url, context).source + '; throw new Error("something else was first");', shortCircuit: true };
} });`;

/** Another Node on the path, older than the package needs. */
const OLD_NODE = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((file) => existsSync(file) && majorOf(file) < 24);

function majorOf(node: string): number {
  return Number.parseInt(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1), 10);
}

describe('a Node that is too old', () => {
  const folder = installedPackage();
  const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/orrery/package.json'), 'utf8'));
  // What needs packages that are not installed cannot say anything before Node does.
  const needy = /package\.json$|admission\/|agentmesh$|lango$|mcp$|models$|xpr$/;
  const entries = Object.keys(exports).filter((name) => !needy.test(name));

  it.each(entries)('is refused by name before anything else of %s runs', async (entry) => {
    const script = `await import('orrery${entry.slice(1)}').catch((error) => console.log(String(error.stack)));`;
    const pretend = `data:text/javascript,${encodeURIComponent(PRETEND)}`;
    const args = ['--import', pretend, '--input-type=module', '-e', script];
    const { stdout } = await run(process.execPath, args, { cwd: folder, timeout: 100_000 });
    expect(stdout.trim()).toBe('Error: Orrery needs Node 24 or later, and this is Node 22.12.0');
  });

  it.runIf(OLD_NODE)('is refused by name by the command', async () => {
    const command = join(folder, 'node_modules/.bin/orrery');
    const refused = run(OLD_NODE as string, [command, '--version'], { timeout: 100_000 });
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^orrery needs Node 24 or later, and this is Node [\d.]+\n$/),
    });
  });

  it.runIf(OLD_NODE)('reads every file that it is refused by', async () => {
    const imports = entries.map((entry) => `import('orrery${entry.slice(1)}')`).join(', ');
    const script = `Promise.allSettled([${imports}]).then((all) => all.map(({ reason }) => console.log(reason.stack)));`;
    const { stdout } = await run(OLD_NODE as string, ['-e', script], { cwd: folder, timeout: 100_000 });
    const refusals = stdout.trim().split('\n');
    const refusal = /^Error: Orrery needs Node 24 or later, and this is Node [\d.]+$/;
    expect(refusals.map((line) => (refusal.test(line) ? 'refused' : line))).toEqual(
      entries.map(() => 'refused'),
    );
  });
});
