import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conformance, failuresOf } from '../../fixtures/mcp/conformance-run.ts';
import { type FixtureRun, runFixture } from '../../fixtures/run-fixture.ts';

const manifest = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json'));

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

  it.each(TASKS)('finds no fault with %s', async (name) => {
    const found = await conformance(url, '--scenario', name);
    expect(found.get(name)?.length).toBeGreaterThan(0);
    expect(failuresOf(found.values())).toEqual([]);
  });

  it.each(HEADERS)('finds no fault with %s', async (name) => {
    const found = await conformance(url, '--scenario', name);
    expect(found.get(name)?.length).toBeGreaterThan(1);
    expect(failuresOf(found.values())).toEqual([]);
  });

  it(`has nothing to look at in ${EMPTY}`, async () => {
    const found = await conformance(url, '--scenario', EMPTY);
    expect([...found.values()].flat().map(({ status }) => status)).toEqual(['SKIPPED']);
  });
});
