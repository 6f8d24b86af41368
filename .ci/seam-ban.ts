/**
 * Checks that the lint rules still refuse time, chance and ids outside their one implementation, and nothing else:
 * a plugin whose patterns no longer match reports nothing, which looks like clean code.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const BANNED = [
  'export const at = Date.now();',
  'export const now = Date.now;',
  'export const now = globalThis.Date.now;',
  'export const at = new Date();',
  'export const at = Date();',
  'export const { now } = Date;',
  'export const chance = Math.random();',
  'export const at = performance.now();',
  'export const at = process.hrtime.bigint();',
  'export const signal = AbortSignal.timeout(5);',
  'export const id = crypto.randomUUID();',
  "import { randomUUID } from 'node:crypto';\nexport const id = randomUUID();",
  "import { setTimeout } from 'node:timers/promises';\nawait setTimeout(5);",
  'setTimeout(() => {}, 5);',
  'setInterval(() => {}, 5);',
  'globalThis.setTimeout(() => {}, 5);',
];

const ALLOWED = [
  'export const at = new Date(5);',
  'export const high = Math.max(1, 2);',
  "export const at = Date.parse('2026-01-01');",
  'setImmediate(() => {});',
  'process.nextTick(() => {});',
  'queueMicrotask(() => {});',
];

const ROOMS = ['runtime', 'actors', 'transports', 'gateway', 'policies'];
const EXEMPT = ['runtime/protocol/system-seams.ts', 'test/unit/probe.ts', 'apps/cli/probe.ts'];
const CLOCK = BANNED[0] ?? '';

const probes = [
  ...BANNED.map((source, at) => ({ path: `runtime/banned-${at}.ts`, source, refused: true })),
  ...ROOMS.map((room) => ({ path: `${room}/deep/banned.ts`, source: CLOCK, refused: true })),
  ...ALLOWED.map((source, at) => ({ path: `runtime/allowed-${at}.ts`, source, refused: false })),
  ...EXEMPT.map((path) => ({ path, source: CLOCK, refused: false })),
];

const checkout = realpathSync(mkdtempSync(join(tmpdir(), 'seam-ban-')));
try {
  for (const file of ['biome.json', '.gitignore', '.ci/seams.grit']) cpSync(file, join(checkout, file));
  for (const { path, source } of probes) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true });
    writeFileSync(join(checkout, path), `${source}\n`);
  }
  const refused = refusedFiles(checkout);
  const surprises = probes.filter((probe) => probe.refused !== refused.has(probe.path));
  for (const { path, source } of surprises) {
    console.error(`${refused.has(path) ? 'refused' : 'not refused'} in ${path}: ${source}`);
  }
  console.log(`${probes.length} probes of the seam ban, ${surprises.length} surprises`);
  if (surprises.length > 0) process.exitCode = 1;
} finally {
  rmSync(checkout, { recursive: true, force: true });
}

function refusedFiles(root: string): Set<string> {
  const lint = spawnSync('biome', ['lint', '--reporter=github', '--max-diagnostics=none', '.'], {
    cwd: root,
    encoding: 'utf8',
  });
  const named = lint.stdout.matchAll(/^::error .*?file=([^,]+),/gm);
  return new Set([...named].map(([, file = '']) => relative(root, file)));
}
