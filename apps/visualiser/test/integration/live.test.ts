import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defineAgent, startSystem } from 'orrery';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Orrery } from '../../../cli/test/spawn-orrery.ts';
import { builtPage, startChromium, whyNoChromium } from '../fixtures/chromium.ts';

const workshop = fileURLToPath(new URL('../../../cli/test/fixtures/workshop.agent.ts', import.meta.url));

const halver = defineAgent({
  id: 'halver',
  name: 'HALVER',
  version: '1.0.0',
  description: 'Halves',
  tier: 2,
});

describe.skipIf(whyNoChromium() !== undefined)('The page of a running mission (F-08)', () => {
  let folder: string;
  let run: Orrery;
  let browser: Browser;
  let built: ReturnType<typeof builtPage>;
  let page: Page;
  let url = '';
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-live-'));
    mkdirSync(join(folder, 'repo'));
    writeFileSync(join(folder, 'repo/wrong.txt'), 'fine\nWRONG\n');
    const tasks = [
      { id: 'words', title: 'Find wrong words', capability: 'words.check' },
      { id: 'word', title: 'Wait for a <b>word</b>', capability: 'wait.for-word', dependsOn: ['words'] },
    ];
    writeFileSync(
      join(folder, 'mission.json'),
      JSON.stringify({ version: 1, name: 'workshop', agents: [workshop], limits: { maxAttempts: 2 }, tasks }),
    );
    const words = ['run', join(folder, 'mission.json'), '--repo', join(folder, 'repo')];
    run = new Orrery([...words, '--watch', '--watch-port', '0', '--unlock'], {
      env: { XDG_RUNTIME_DIR: folder },
    });
    await run.printed('To act there');
    url = /Watch it: (\S+)/.exec(run.stdout)?.[1] ?? '';
    if (url === '') throw new Error((await run.ended).stderr);
    built = builtPage();
    browser = await startChromium();
    page = await browser.newPage({ viewport: { width: 1_400, height: 900 } });
    page.on('pageerror', (error) => complaints.push(String(error.stack)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
        complaints.push(message.text());
    });
  });
  afterAll(async () => {
    await browser.close();
    built.remove();
    run.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const says = (text: string): Promise<unknown> => page.getByText(text).first().waitFor();
  const go = (address: string): Promise<unknown> => page.goto(`${new URL(url).origin}/#/${address}`);

  it('says that a token is wrong, and watches with the right one, which it takes out of the address', async () => {
    await page.goto(`${new URL(url).origin}/#token=wrong`);
    await says('The token is not right');
    await page.goto('about:blank');
    await page.goto(url);
    await page.waitForSelector('[data-state="connected"]');
    expect(page.url()).not.toContain('token');
    await says('WORKSHOP');
  });

  it('shows the board of the mission as its loop goes on, and titles as text', async () => {
    await go('work');
    await says('Wait for a <b>word</b>');
    await says('1 of 2 tasks done');
    writeFileSync(join(folder, 'repo/word.txt'), 'here');
    await says('2 of 2 tasks done');
  });

  it('draws the machines that run: of the agent’s life, its cell and its negotiator', async () => {
    await go('agent/workshop');
    await says('Its state machines');
    await says('agentLife');
    await says('negotiator');
  });

  it('shows a conversation envelope by envelope, and what one says when it is chosen', async () => {
    await go(`conversation/${encodeURIComponent('workshop/words')}`);
    await says('words.check');
    await page.locator('[data-row="0"]').first().click();
    await says('Payload');
  });

  it('goes back in time', async () => {
    await go('time');
    await says('What happened');
    const at = async (): Promise<number> =>
      Number(await page.locator('[data-position]').getAttribute('data-position'));
    await page.getByRole('slider').focus();
    await page.keyboard.press('Home');
    await expect.poll(at).toBeLessThanOrEqual(1);
    await page.keyboard.press('End');
    await expect.poll(at).toBeGreaterThan(10);
  });

  it('says that the connection is lost when the run is killed, keeps what it has, and complained of nothing', async () => {
    await go('system');
    run.child.kill('SIGKILL');
    await run.ended;
    await page.waitForSelector('[data-state="reconnecting"]');
    await says('WORKSHOP');
    expect(complaints).toEqual([]);
  });

  it('needs no token where everybody who reaches the team may watch', async () => {
    await using team = await startSystem({ agents: [halver] });
    const folder = pathToFileURL(`${built.folder}/`);
    const open = await team.serve({ a2a: false, mcp: false, watch: { page: folder } });
    const visitor = await browser.newPage();
    await visitor.goto(open.url);
    await visitor.waitForSelector('[data-state="connected"]');
    await visitor.getByText('HALVER').first().waitFor();
    await visitor.close();
  });
});
