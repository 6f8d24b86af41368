import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childrenOf } from '../fixtures/processes.ts';
import { type Figures, note } from './figures.ts';
import type { ScenarioDeps } from './scenario.ts';
import { Victim } from './victim.ts';

const HOST = fileURLToPath(new URL('./fixtures/freeze-host.ts', import.meta.url));
const LEASE_MS = 1_000;
/** Longer than the lease, than a loop is let go on (0.4 s), an agent may take to start (5 s), and the control thread to beat (3 s). */
const FROZEN_MS = 5_500;
const BOOT_MS = 1_200;
const WORK_MS = 500;
const PATIENCE_MS = 120_000;

interface HostReport {
  readonly status: string;
  readonly results: Readonly<Record<string, { readonly epoch: number }>>;
  readonly subTasks: readonly { readonly id: string; readonly assignments: number; readonly lates: number }[];
  readonly restarts: number;
  readonly asked: { readonly answered: number; readonly failed: readonly string[] };
  readonly conservation: {
    readonly accepted: number;
    readonly handled: number;
    readonly rejected: number;
    readonly expired: number;
    readonly deadLettered: number;
    readonly holds: boolean;
  };
}

/**
 * A whole host is stopped, and goes on much later: nobody takes anybody for dead over it, nothing that was asked is lost,
 * and meanwhile nobody else can take its journal.
 */
export async function freezeHost(
  deps: ScenarioDeps,
  figures: Figures,
  phase: 'boot' | 'work',
): Promise<void> {
  const { folder, random, say } = deps;
  const broken = (what: string): unknown => figures.broken.push(`a host frozen at ${phase}: ${what}`);
  const [journal, marks] = ['journal.db', 'marks'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(marks, '');
  const start = () => new Victim([HOST, journal, marks, String(LEASE_MS)], folder);
  const host = start();
  if (phase === 'work') await host.prints(/^working$/);
  await host.goesOn(random() * (phase === 'boot' ? BOOT_MS : WORK_MS));
  const withChildren = random() < 0.5;
  const pids = [host.pid, ...(withChildren ? childrenOf(host.pid) : [])];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const thawing = host.goesOn(FROZEN_MS);
  if (phase === 'work') {
    const intruder = start();
    const { code } = await intruder.ends(PATIENCE_MS);
    if (code === 0 || !intruder.errors.includes('STORE_IN_USE'))
      broken(`another process opened its journal: ${intruder.errors}`);
  }
  await thawing;
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  figures.freezes += 1;
  note(figures, `host frozen at ${phase}`);
  const { code } = await host.ends(PATIENCE_MS);
  const line = host.lines.find((one) => one.startsWith('{'));
  if (code !== 0 || line === undefined) return void broken(`it ended with ${code}: ${host.errors}`);
  judgeHost(JSON.parse(line) as HostReport, readFileSync(marks, 'utf8'), figures, broken);
  say(`a host stood still at ${phase}`);
}

function judgeHost(
  { status, results, subTasks, restarts, asked, conservation }: HostReport,
  marks: string,
  figures: Figures,
  broken: (what: string) => unknown,
): void {
  if (status !== 'completed') broken(`its swarm is ${status}`);
  for (const { id } of subTasks)
    if (results[id] === undefined) {
      figures.gone += 1;
      broken(`${id} has no result`);
    }
  const begun = marks.split('\n').filter((line) => line.startsWith('begun '));
  const assignments = new Set(
    begun.map((line) =>
      line
        .split(' ')
        .filter((_, at) => at !== 4)
        .join(' '),
    ),
  );
  figures.appliedTwice += begun.length - assignments.size;
  note(
    figures,
    'given to another one',
    subTasks.reduce((sum, one) => sum + one.assignments - 1, 0),
  );
  note(
    figures,
    'late results refused',
    subTasks.reduce((sum, one) => sum + one.lates, 0),
  );
  if (restarts > 0) broken(`${restarts} healthy agents were restarted`);
  if (asked.failed.length > 0) broken(`asks failed: ${[...new Set(asked.failed)].join('; ')}`);
  if (!conservation.holds) broken('its envelopes do not add up');
  const { accepted, handled, rejected, expired, deadLettered } = conservation;
  figures.accepted += accepted;
  figures.handled += handled;
  figures.rejected += rejected;
  figures.expired += expired;
  figures.deadLettered += deadLettered;
}
