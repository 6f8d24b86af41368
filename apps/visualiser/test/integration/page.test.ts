import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtPage, startChromium, whyNoChromium } from '../fixtures/chromium.ts';
import { demoRun, MISSION, traceText } from '../fixtures/demo-run.ts';
import { emptyState, WatchServer } from '../fixtures/watch-server.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN = demoRun();
const TRACE = Buffer.from(traceText(RUN));
const BEGAN_MS = 1_795_300_000_000;

/** Each view by its address, and what it says. */
const VIEWS: readonly (readonly [string, string])[] = [
  ['system', 'Agents by thread'],
  ['graph', 'Who talks to whom'],
  ['agent/saturn', 'Its state machines'],
  ['conversations', 'Each is all that one request has caused'],
  [`conversation/${encodeURIComponent(`${MISSION}/tests`)}`, 'nothing went wrong'],
  ['work', 'Find what the licences allow'],
  ['trouble', 'Who waits for whom'],
  ['time', 'What happened'],
];

const agentOf = (id: string, more: object = {}): object => ({
  ...{ id, name: id.toUpperCase(), version: '1.0.0', tier: 2, capabilities: [`${id}.do`], place: 'worker-1' },
  ...{ status: 'running', waiting: 0, restarts: 0, capacity: 100 },
  ...more,
});

const stateOf = (agents: readonly object[], more: object = {}): object => ({
  ...emptyState(),
  agents,
  places: [{ id: 'worker-1', kind: 'worker', agents: [] }],
  ...more,
});

describe.skipIf(whyNoChromium() !== undefined)('The page (F-08)', () => {
  let built: ReturnType<typeof builtPage>;
  let browser: Browser;
  let server: WatchServer;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    built = builtPage();
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    built.remove();
  });
  beforeEach(async () => {
    server = await WatchServer.start(built.folder);
    page = await browser.newPage({ viewport: { width: 1_400, height: 900 } });
    complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error.stack)));
    page.on('console', (message) => {
      // What a lost or refused connection looks like to a browser is not the page's doing.
      if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
        complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await page.close();
    await server.stop();
    expect(complaints).toEqual([]);
  });

  const go = (address: string): Promise<unknown> => page.goto(`${server.url}/#/${address}`);
  const open = async (buffer: Buffer, name = 'run.jsonl'): Promise<void> => {
    await page.setInputFiles('input[data-trace-file]', { name, mimeType: 'application/json', buffer });
    await page.waitForSelector('[data-state="opened"]');
  };
  const openDemo = async (address = 'system'): Promise<void> => {
    await page.goto(server.url);
    await open(TRACE);
    await go(address);
  };
  const says = (text: string): Promise<unknown> => page.getByText(text).first().waitFor();
  const connect = async (address = '/system'): Promise<void> => {
    await page.goto(`${server.url}/#token=${server.token}`);
    await page.waitForSelector('[data-state="connected"]');
    await page.goto(`${server.url}/#${address}`);
  };
  const position = async (): Promise<number> =>
    Number(await page.locator('[data-position]').getAttribute('data-position'));

  it('shows every view of a trace', async () => {
    await openDemo();
    for (const [address, text] of VIEWS) {
      await go(address);
      await says(text);
    }
  });

  it('says in its first sentence who works at what, how far it is, who waits and what is wrong', async () => {
    await openDemo();
    const sentence = await page.locator('h1').innerText();
    expect(sentence).toBe(
      'EARTH and MARS work at “repository-audit”, of 10 agents; 7 of 8 tasks are done; the mission loop waits for EARTH, which waits for MARS (7.9 s); 2 things are wrong, first: URANUS gave up.',
    );
  });

  it.each(['light', 'dark'] as const)('breaks no rule of accessibility in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await openDemo();
    const found: string[] = [];
    for (const [address, text] of VIEWS) {
      await go(address);
      await says(text);
      if (address.startsWith('conversation/')) await page.locator('[data-row="0"]').first().click();
      // The linter of the page's policy takes no script that is not its own.
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: { run: () => Promise<{ violations: AxeViolation[] }> } }).axe.run(),
      );
      for (const { id, nodes } of violations)
        found.push(`${address}: ${id} at ${nodes.map(({ html }) => html.slice(0, 140)).join(' | ')}`);
    }
    expect(found).toEqual([]);
  });

  it('is reached by the keyboard alone: all views, an agent, an arrow and its envelope', async () => {
    await openDemo();
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 120; presses++) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => {
          const { activeElement } = document;
          return `${activeElement?.getAttribute('aria-label') ?? ''} ${activeElement?.textContent ?? ''}`.trim();
        });
        if (focused.startsWith(name)) return;
      }
      throw new Error(`${name} is not reached by the keyboard`);
    };
    for (const [name, text] of [
      ['Work', 'Proposals'],
      ['Conversations', 'Each is all that'],
      ['Trouble', 'What is wrong, the worst first'],
      ['Time', 'Machines, as they are'],
      ['System', 'Agents by thread'],
    ] as const) {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await tabTo(name);
      await page.keyboard.press('Enter');
      await says(text);
    }
    await tabTo('MERCURY');
    await page.keyboard.press('Enter');
    await says('Its state machines');
    await tabTo('try-again');
    await page.keyboard.press('Enter');
    await says('1 went wrong');
    await tabTo('mercury to saturn: attempt 3');
    await page.keyboard.press('Enter');
    await says('A trace holds no payloads.');
    await page.keyboard.press('Escape');
    await page.locator('.detail').waitFor({ state: 'detached' });
  });

  it('goes back in time with the machines, and keeps the moment in the address', async () => {
    await openDemo('time');
    await says('Machines, as they are');
    expect(await position()).toBe(RUN.events.length);
    const slider = page.getByRole('slider', { name: 'Moment' });
    await slider.focus();
    await page.keyboard.press('Home');
    await says('Before it all');
    const step = RUN.events.findIndex(
      ({ type, machine, to }) => type === 'machine-step' && machine === 'agentLife' && to === 'restarting',
    );
    await page.goto(`${server.url}/#/time?at=${step + 1}`);
    await page.locator('svg.statechart [data-state="restarting"] .active').waitFor();
    await page.getByRole('button', { name: 'Step forward' }).click();
    await eventually(position).toBe(step + 2);
    const next = RUN.events.findIndex(
      ({ type, actorId, to }, at) =>
        at > step && type === 'machine-step' && actorId === 'saturn' && to === 'starting',
    );
    await page.goto(`${server.url}/#/time?at=${next + 1}`);
    await page.locator('svg.statechart [data-state="starting"] .active').waitFor();
    await page.getByRole('link', { name: 'System', exact: true }).click();
    await eventually(() => page.url()).toContain(`at=${next + 1}`);
    await page.goBack();
    await says('Machines, as they are');
  });

  it('plays a recording at another speed, and stops at its end', async () => {
    await openDemo('time?at=0');
    await says('Before it all');
    await page.getByLabel('Speed').selectOption('100');
    await page.getByRole('button', { name: 'Play' }).click();
    await eventually(position).toBe(RUN.events.length);
    await page.getByRole('button', { name: 'Play' }).waitFor();
  });

  it('draws a conversation with retries, refusals and reasons, and saves it as SVG and Mermaid', async () => {
    await openDemo('conversation/try-again');
    await page.getByRole('button', { name: /attempt 2/ }).waitFor();
    await page.getByRole('button', { name: /attempt 3.*dead-lettered ACTOR_DIED/ }).click();
    await page
      .locator('.detail')
      .getByText('saturn has died three times over this envelope')
      .first()
      .waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'SVG' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/^<svg xmlns.*attempt 3/s);
    const mermaid = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Mermaid' }).click();
    expect(readFileSync(await (await mermaid).path(), 'utf8')).toMatch(/^sequenceDiagram\n.*-x/s);
  });

  it('opens a broken trace as far as it can, and says which line is wrong', async () => {
    await page.goto(server.url);
    await open(
      Buffer.concat([
        TRACE.subarray(0, 20_000),
        Buffer.from('\nthis is not JSON\n'),
        TRACE.subarray(20_000, 30_001),
      ]),
    );
    await says('not JSON');
    await page.locator('.faults summary').click();
    await says('ends in the middle: whoever wrote it was cut off');
    expect(await page.locator('h1').innerText()).toContain('repository-audit');
    await open(Buffer.from(''), 'nothing');
    await says('The file is empty');
    await open(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x0a]), 'picture.png');
    await says('Line 1 is not UTF-8 text');
  });

  it('shows names and payloads that would be code as the text that they are', async () => {
    const evil = '<img src=x onerror="globalThis.wasRun = 1"><script>globalThis.wasRun = 1</script>';
    const turned = 'safe\u202Egnp.exe';
    server.envelopes = [
      {
        id: 'e1',
        payload: { text: evil, link: 'javascript:globalThis.wasRun=1' },
        metadata: { budget: { tokens: 5 } },
      },
    ];
    server.state = stateOf([
      agentOf('evil', { id: evil, name: evil }),
      agentOf('turned', { name: turned }),
      agentOf('__proto__'),
    ]);
    await connect();
    await says('<img src=x onerror=');
    await says('safe⟨U+202E⟩gnp.exe');
    await says('__PROTO__');
    const about = {
      envelopeId: 'e1',
      sender: evil,
      recipient: 'turned',
      correlationId: 'javascript:alert(1)',
      messageType: 'request',
      capability: evil,
    };
    server.sendEvents([
      { type: 'message-sent', timestamp: BEGAN_MS + 5, ...about },
      { type: 'agent-failed', timestamp: BEGAN_MS + 6, agentId: evil, reason: evil, stack: evil },
    ]);
    for (const [address] of VIEWS.filter(([one]) => !one.includes('/'))) {
      await page.goto(`${server.url}/#/${address}`);
      await page.waitForSelector('main h1, main h2');
    }
    await page.goto(`${server.url}/#/conversation/${encodeURIComponent('javascript:alert(1)')}`);
    await page.locator('[data-row="0"]').first().click();
    await says('"link": "javascript:globalThis.wasRun=1"');
    expect(await page.evaluate(() => (globalThis as { wasRun?: number }).wasRun)).toBeUndefined();
    expect(await page.locator('main img, main script').count()).toBe(0);
    const links = await page
      .locator('a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links.filter((href) => !href.startsWith('#/'))).toEqual([]);
  });

  it('says who has paused a mission, and what is typed for a task that waits for people', async () => {
    const task = (id: string, state: string): object => ({ id, state, attempts: 1, gates: [] });
    const tasks = [task('login', 'held'), task('cart', 'working')];
    server.state = stateOf([agentOf('mars')], { mission: { name: 'shop', pausedBy: 'ann', tasks } });
    await connect();
    await page.goto(`${server.url}/#/work`);
    await page.getByText('Paused by ann: no task is begun until somebody types orrery continue.').waitFor();
    await page.locator('tr.warning').getByText('orrery approve login').waitFor();
    expect(await page.locator('tr.warning').count()).toBe(1);
    await page.goto(`${server.url}/#/trouble`);
    await says("The task login waits until somebody approves it: 'orrery approve login'");
    server.sendEvents([
      {
        type: 'mission',
        timestamp: BEGAN_MS + 5,
        mission: 'shop',
        step: 'mission-resumed',
        reason: 'ann wishes it',
      },
    ]);
    await page.goto(`${server.url}/#/work`);
    await page.locator('tr.warning').getByText('orrery approve login').waitFor();
    await page.locator('p.warning').waitFor({ state: 'detached' });
  });

  it('asks for another token when it is not right, and takes the token out of the address', async () => {
    server.state = stateOf([agentOf('mars')]);
    await page.goto(`${server.url}/#token=wrong`);
    await says('The token is not right. It stands in the line');
    expect(page.url()).not.toContain('wrong');
    await page.getByLabel('Token', { exact: true }).fill(server.token);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('link', { name: 'MARS' }).waitFor();
    expect(page.url()).not.toContain(server.token);
    await page.reload();
    await page.getByRole('link', { name: 'MARS' }).waitFor();
  });

  it('connects again when the connection is lost, and says that there is a gap', async () => {
    server.state = stateOf([agentOf('mars')]);
    await connect();
    server.sendEvents([
      { type: 'progress', timestamp: BEGAN_MS + 10, agentId: 'mars', fraction: 0.5, reason: 'before' },
    ]);
    server.isDown = true;
    server.state = stateOf([agentOf('mars'), agentOf('venus')], {
      nowMs: BEGAN_MS + 5_000,
      recent: [{ type: 'progress', timestamp: BEGAN_MS + 4_000, agentId: 'venus', fraction: 0.5 }],
    });
    server.cut();
    await page.waitForSelector('[data-state="reconnecting"]');
    server.isDown = false;
    await page.waitForSelector('[data-state="connected"]');
    await page.getByRole('link', { name: 'VENUS' }).waitFor();
    await says('one gap in the recording');
  });

  it('follows a live team, holds a moment, and follows again', async () => {
    server.state = stateOf([agentOf('mars')]);
    await connect();
    await says('nothing is wrong');
    server.sendEvents(
      [0, 1, 2, 3].map((at) => ({
        type: 'progress',
        timestamp: BEGAN_MS + 100 + at,
        agentId: 'mars',
        fraction: at / 4,
      })),
    );
    await eventually(position).toBe(5);
    await page.getByRole('button', { name: 'Step back' }).click();
    await eventually(position).toBe(4);
    server.sendEvents([{ type: 'events-left-out', timestamp: BEGAN_MS + 200, place: 'worker-1', count: 41 }]);
    await page.getByText('5 of 6').or(page.getByText('4 of 6')).first().waitFor();
    expect(await position()).toBe(4);
    await page.getByRole('button', { name: 'Follow live' }).click();
    await says('41 events left out under load');
    expect(await position()).toBe(6);
  });

  it('sends a dead letter again only with the unlock token', async () => {
    const letter = {
      id: 'd-7',
      sender: 'venus',
      recipient: 'mars',
      type: 'request',
      code: 'MAILBOX_FULL',
      reason: 'it was full',
      atMs: BEGAN_MS,
      canReplay: true,
    };
    server.state = stateOf([agentOf('mars')], { canUnlock: true, deadLetters: { total: 1, last: [letter] } });
    await connect('/trouble');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByLabel('Unlock token').fill('a guess');
    await page.getByRole('button', { name: 'Unlock and send again' }).click();
    await says('The unlock token is not right: nothing was sent.');
    expect(server.replayed).toEqual([]);
    await page.getByLabel('Unlock token').fill(server.unlock);
    await page.getByRole('button', { name: 'Unlock and send again' }).click();
    await says('It was sent again.');
    expect(server.replayed).toEqual(['d-7']);
  });

  it('opens a trace in place of the live team, and goes back to it', async () => {
    server.state = stateOf([agentOf('mars'), agentOf('phobos')]);
    await connect();
    await page.getByRole('link', { name: 'PHOBOS' }).waitFor();
    await open(TRACE);
    await page.getByRole('link', { name: 'CALLISTO' }).waitFor();
    await page.getByRole('button', { name: 'Back to live' }).click();
    await page.getByRole('link', { name: 'PHOBOS' }).waitFor();
  });

  it('loads nothing from elsewhere', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await openDemo();
    await says('Agents by thread');
    expect(
      asked.filter(
        (url) => !url.startsWith(server.url) && !url.startsWith('blob:') && !url.startsWith('data:'),
      ),
    ).toEqual([]);
  });
});

/** Waits as long as a page on a busy machine may need. */
const eventually = <T>(what: () => T) => expect.poll(what, { timeout: 60_000 });

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
