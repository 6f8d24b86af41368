/**
 * Measures the page under load, in a real browser: `npm run load:page -- [seconds] [agents] [events a second]`.
 *
 * Prints for each view the longest task of the page's own thread, the 95th percentile of its frames, and its memory; exits with 1 if a
 * task took more than 50 ms, or the 95th percentile of frames more than 33 ms.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { builtPage, startChromium, whyNoChromium } from '../fixtures/chromium.ts';

const MAX_TASK_MS = 50;
const MAX_FRAME_MS = 33;
const VIEWS = ['system', 'graph', 'agent/agent-7', 'conversations', 'work', 'trouble', 'time'];

/** What was measured in the page. */
interface Figures {
  readonly tasks: readonly number[];
  readonly frames: readonly number[];
  readonly heapMb: number;
  readonly events: number;
}

const [seconds = '10', agents = '1000', perSecond = '5000'] = process.argv.slice(2);
const why = whyNoChromium();
if (why !== undefined) throw new Error(why);
const built = builtPage();
const player = fork(
  fileURLToPath(new URL('./player.ts', import.meta.url)),
  [built.folder, agents, perSecond],
  {
    execArgv: ['--conditions=orrery-source'],
  },
);
const [{ url, token }] = (await once(player, 'message')) as [{ url: string; token: string }];
const browser = await startChromium();
let isTooSlow = false;
try {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(`${url}/#token=${token}`);
  await page.waitForSelector('[data-state="connected"]');
  await page.waitForTimeout(3_000);
  for (const view of VIEWS) {
    await page.goto(`${url}/#/${view}`);
    await page.waitForTimeout(1_000);
    await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
    const figures = await measured(page, Number(seconds) * 1_000);
    report(view, figures, longestTaskMs(await browser.stopTracing()));
  }
} finally {
  await browser.close();
  player.disconnect();
  built.remove();
}
process.exitCode = isTooSlow ? 1 : 0;

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of a page's own thread, in the CPU time that it took: on a busy machine it waits for others besides. */
function longestTaskMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => /RunTask$/.test(name) && threads.has(`${pid} ${tid}`),
  );
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1_000;
}

function report(view: string, { tasks, frames, heapMb, events }: Figures, cpuMs: number): void {
  const longest = Math.max(0, ...tasks);
  const frame = percentile(frames, 0.95);
  const isSlow = longest > MAX_TASK_MS || frame > MAX_FRAME_MS;
  if (isSlow) isTooSlow = true;
  console.log(
    `${view.padEnd(16)} ${isSlow ? 'too slow' : 'in time '}  longest task ${longest.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of CPU), ${tasks.length} over 50 ms, frames: median ${percentile(frames, 0.5).toFixed(1)} ms, 95 % ${frame.toFixed(1)} ms, heap ${heapMb.toFixed(0)} MB, ${Math.round(events)} events a second`,
  );
}

/** Browsers tell of tasks of more than 50 ms only. */
function measured(page: Page, ms: number): Promise<Figures> {
  return page.evaluate(async (forMs) => {
    const tasks: number[] = [];
    const frames: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    });
    observer.observe({ entryTypes: ['longtask'] });
    const positionNow = (): number =>
      Number(document.querySelector('[data-position]')?.getAttribute('data-position'));
    const first = positionNow();
    const began = performance.now();
    await new Promise<void>((resolve) => {
      let before = began;
      const frame = (now: number): void => {
        frames.push(now - before);
        before = now;
        if (now - began > forMs) resolve();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    observer.disconnect();
    const { memory } = performance as unknown as { memory?: { usedJSHeapSize: number } };
    return {
      tasks,
      frames: frames.slice(1),
      heapMb: (memory?.usedJSHeapSize ?? 0) / 1e6,
      events: ((positionNow() - first) * 1_000) / forMs,
    };
  }, ms);
}
