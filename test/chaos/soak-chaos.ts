import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figures, newFigures, note } from './figures.ts';
import type { ScenarioDeps } from './scenario.ts';
import { growth, type Sample, trends } from './soak-judge.ts';
import { Victim } from './victim.ts';

const HOST = fileURLToPath(new URL('./fixtures/soak-host.ts', import.meta.url));
const PATIENCE_MS = 180_000;
const MAX_SEED = 2 ** 31;
/** What may become of an ask while threads end, processes end and code changes. */
const EXPECTED =
  /^((told: )?(ACTOR_DIED|HANDLER_FAILED|THREAD_DIED|REFUSED|DEADLINE_EXCEEDED|POISON|CANCELLED|NOT_HERE|MAILBOX_FULL)|(upgrade|terminate): .*)$/;

interface SoakReport {
  readonly counts: {
    readonly told: number;
    readonly answered: number;
    readonly wrong: number;
    readonly unended: number;
    readonly terminated: number;
    readonly upgraded: number;
    readonly refused: Readonly<Record<string, number>>;
  };
  readonly conservation: Readonly<
    Record<'accepted' | 'handled' | 'rejected' | 'expired' | 'deadLettered' | 'inFlight', number>
  >;
}

/** A system that is asked, told, crashed, ended and upgraded for `seconds`: the counts add up throughout, and it does not grow. */
export async function soakChaos({ folder, random, say }: ScenarioDeps, seconds: number): Promise<Figures> {
  const figures = newFigures();
  const begunMs = performance.now();
  const seed = Math.floor(random() * MAX_SEED);
  const words = ['--expose-gc', HOST, join(folder, 'journal.db'), String(seconds), String(seed)];
  const host = new Victim(words, folder);
  const { code } = await host.ends(seconds * 1_000 + PATIENCE_MS);
  figures.seconds = (performance.now() - begunMs) / 1_000;
  const samples = host.lines
    .filter((line) => line.startsWith('sample '))
    .map((line) => JSON.parse(line.slice(7)) as Sample);
  const line = host.lines.find((one) => one.startsWith('report '));
  if (code !== 0 || line === undefined) {
    figures.broken.push(`it ended with ${code}: ${host.errors}`);
    return figures;
  }
  judgeSoak(JSON.parse(line.slice(7)) as SoakReport, figures);
  figures.broken.push(...growth(samples));
  for (const [name, [first, last]] of trends(samples) ?? [])
    say(`${name}: ${first.toFixed(1)}, later ${last.toFixed(1)}`);
  return figures;
}

function judgeSoak({ counts, conservation }: SoakReport, figures: Figures): void {
  const { accepted, handled, rejected, expired, deadLettered, inFlight } = conservation;
  Object.assign(figures, { accepted, handled, rejected, expired, deadLettered });
  figures.unknown += accepted - handled - rejected - expired - deadLettered - inFlight + counts.unended;
  if (counts.wrong > 0) figures.broken.push(`${counts.wrong} asks got the answer to another one`);
  for (const [code, count] of Object.entries(counts.refused)) {
    note(figures, code, count);
    if (!EXPECTED.test(code)) figures.broken.push(`${count} asks ended with ${code}`);
  }
  for (const name of ['answered', 'told', 'terminated', 'upgraded'] as const)
    note(figures, name, counts[name]);
}
