/**
 * Watches a team at work in a real browser for long: `npm run load:page:long -- [minutes]`.
 *
 * Goes from view to view and prints what the system, the page and its worker hold; exits with 1 if one of them holds more and
 * more: in the last third of the time a fifth more than in the middle one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { memoryKb } from '../../../../test/fixtures/processes.ts';
import { builtPage, startChromium, whyNoChromium } from '../fixtures/chromium.ts';

const VIEWS = ['system', 'graph', 'agent/restless-7', 'conversations', 'work', 'trouble', 'time'];
const VIEW_MS = 10_000;
const MOST_GROWTH = 1.2;

const [minutes = '10'] = process.argv.slice(2);
const why = whyNoChromium();
if (why !== undefined) throw new Error(why);
const built = builtPage();
const team: ChildProcess = fork(
  fileURLToPath(new URL('./restless-team.ts', import.meta.url)),
  [built.folder],
  {
    execArgv: ['--conditions=orrery-source'],
  },
);
const [{ url }] = (await once(team, 'message')) as [{ url: string }];
const browser = await startChromium();
const held: { system: number[]; page: number[] } = { system: [], page: [] };
try {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(url);
  await page.waitForSelector('[data-state="connected"]');
  const until = Date.now() + Number(minutes) * 60_000;
  for (let turn = 0; Date.now() < until; turn++) {
    const view = VIEWS[turn % VIEWS.length] ?? '';
    await page.goto(`${url}/#/${view}`);
    await page.waitForTimeout(VIEW_MS);
    held.system.push(residentMb(team.pid ?? 0));
    held.page.push(rendererMb());
    const position = await page.locator('[data-position]').first().getAttribute('data-position');
    console.log(
      `${String(turn).padStart(3)} ${view.padEnd(16)} system ${held.system.at(-1)?.toFixed(0)} MB, page with its worker ${held.page.at(-1)?.toFixed(0)} MB, ${position} entries`,
    );
  }
} finally {
  await browser.close();
  team.disconnect();
  built.remove();
}
let isGrowing = false;
for (const [name, values] of Object.entries(held)) {
  const third = Math.floor(values.length / 3);
  const [middle, last] = [median(values.slice(third, 2 * third)), median(values.slice(2 * third))];
  console.log(`${name}: ${middle.toFixed(0)} MB in the middle third, ${last.toFixed(0)} MB in the last`);
  if (last > middle * MOST_GROWTH) isGrowing = true;
}
process.exitCode = isGrowing ? 1 : 0;

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function residentMb(pid: number): number {
  return memoryKb(pid, 'VmRSS') / 1_000;
}

/** The largest of the browser's renderers is that of the page. */
function rendererMb(): number {
  const renderers = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isRenderer(pid));
  return Math.max(0, ...renderers.map((pid) => residentMb(Number(pid))));
}

function isRenderer(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer');
  } catch {
    return false;
  }
}
