import { readFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureRun, runFixture } from '../../fixtures/run-fixture.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

/** One thing that the suite has looked at. */
interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const manifest = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json'));
const SUITE = join(dirname(manifest), 'dist/index.js');

/** Runs the suite against a server; what it has found, by scenario. Throws what it said when it found nothing. */
async function conformance(url: string, ...options: readonly string[]): Promise<Map<string, Check[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '-o', folder, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    await once(child, 'close');
    const found = new Map<string, Check[]>();
    for (const name of readdirSync(folder)) {
      const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
      const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[];
      found.set(
        scenario,
        checks.map((check) => ({ ...check, scenario })),
      );
    }
    if (found.size === 0) throw new Error(`The suite found nothing: ${said}`);
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What failed, or could not be looked at, in words. */
const failuresOf = (checks: Iterable<readonly Check[]>): string[] =>
  [...checks]
    .flat()
    .flatMap(({ scenario, id, status, errorMessage = '' }) =>
      status === 'SUCCESS' || status === 'INFO' ? [] : [`${scenario} ${id}: ${status} ${errorMessage}`],
    );

/** The scenarios that a revision scores for servers, as the suite lists them. */
function scored(revision: string): string[] {
  const text = readFileSync(join(dirname(manifest), `requirements/${revision}.yaml`), 'utf8');
  const server = /^server:\n((?: {2}- .*\n)+)/m.exec(text)?.[1] ?? '';
  return [...server.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name as string);
}

const TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];

/** Not scored, since the suite's own reference does not pass them. */
const HEADERS = ['http-header-validation', 'http-custom-header-server-validation'];

/** The suite has a name for it and looks at nothing: it waits for a rewrite of its own. */
const EMPTY = 'tasks-status-notifications';

let server: FixtureRun;
let url = '';

beforeAll(async () => {
  server = runFixture('mcp/conformance-server', []);
  for await (const line of server.lines) {
    url = line;
    break;
  }
  if (url === '') throw new Error((await server.ended).errors);
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.ended;
});

describe('The public conformance suite of MCP (N-5.2, N-5.3, N-5.4, N-6.2, N-6.3, N-6.5, N-D11)', () => {
  it('is of the version that is pinned', () => {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    expect(version).toBe('0.2.0-alpha.12');
  });

  it.each([
    { revision: '2026-07-28', scenarios: 37 },
    { revision: '2025-11-25', scenarios: 30 },
  ])('finds no fault with any scored scenario of $revision', async ({ revision, scenarios }) => {
    const names = scored(revision);
    expect(names).toHaveLength(scenarios);
    const found = await conformance(url, '--requirements', revision);
    expect(names.filter((name) => (found.get(name)?.length ?? 0) === 0)).toEqual([]);
    expect(failuresOf(names.map((name) => found.get(name) ?? []))).toEqual([]);
  });

  describe('of the scenarios that it does not score', () => {
    let found: Map<string, Check[]>;
    beforeAll(async () => {
      found = await conformance(url, '--suite', 'pending');
    });

    it.each(TASKS)('finds no fault with %s', (name) => {
      expect(found.get(name)?.length).toBeGreaterThan(0);
      expect(failuresOf([found.get(name) ?? []])).toEqual([]);
    });

    it.each(HEADERS)('finds no fault with %s', (name) => {
      expect(found.get(name)?.length).toBeGreaterThan(1);
      expect(failuresOf([found.get(name) ?? []])).toEqual([]);
    });

    it(`has nothing to look at in ${EMPTY}`, () => {
      expect(found.get(EMPTY)?.map(({ status }) => status)).toEqual(['SKIPPED']);
    });
  });
});
