/**
 * Runs the audit on this repository, and takes pictures of the visualiser meanwhile: npm run pictures. They stand in
 * docs/visualiser.md. It needs Chromium.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { chromium, type Page } from 'playwright-core';

const FOLDER = 'docs/visualiser';
const SIZE = { width: 1_280, height: 800 };
/** Each picture: its name, the address within the page, and what has to be seen first. */
const PICTURES = [
  ['system', 'system', 'tasks are done'],
  ['graph', 'graph', 'Who talks to whom'],
  ['work', 'work', 'Proposals'],
  ['agent', 'agent/mars', 'Its state machines'],
  ['conversation', 'conversation/orrery-audit%2Ftypes', 'types.check'],
  ['trouble', 'trouble', 'Who waits for whom'],
] as const;
/** How long the run may go on before the pictures are taken, milliseconds. */
const RUNS_MS = 20_000;

const run = spawn(
  process.execPath,
  ['--conditions=orrery-source', 'apps/cli/main.ts', 'run', '--quiet', '--watch', '--watch-port', '0'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const url = await addressOf(run);
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 1 });
  await page.goto(url);
  await page.waitForTimeout(RUNS_MS);
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, address, text] of PICTURES)
    await take(page, name, `${new URL(url).origin}/#/${address}`, text);
  await page.emulateMedia({ colorScheme: 'dark' });
  await take(page, 'system-dark', `${new URL(url).origin}/#/system`, 'tasks are done');
  await browser.close();
} finally {
  run.kill('SIGINT');
}

async function take(page: Page, name: string, url: string, text: string): Promise<void> {
  await page.goto(url);
  await page.getByText(text).first().waitFor();
  // Drawings are laid out in a worker.
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
  console.log(`${FOLDER}/${name}.png`);
}

async function addressOf({ stdout }: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let printed = '';
  for await (const chunk of stdout) {
    printed += String(chunk);
    const url = /Watch it: (\S+)/.exec(printed)?.[1];
    if (url === undefined) continue;
    stdout.resume();
    return url;
  }
  throw new Error(`The run ended before it was served:\n${printed}`);
}
