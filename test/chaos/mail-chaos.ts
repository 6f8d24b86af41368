import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figures, isWorthwhile, newFigures, note } from './figures.ts';
import { chooseMoment, type Habits, reach } from './kill-moment.ts';
import { type Entry, judgeMail, type Letter } from './mail-judge.ts';
import type { ScenarioDeps } from './scenario.ts';
import { Victim } from './victim.ts';

const HOST = fileURLToPath(new URL('./fixtures/mail-host.ts', import.meta.url));
/** Kills of one journal, before it is drained and judged. */
const KILLS_OF_ONE = 12;
const ENVELOPES = 400;
const BURST = 20;
const PATIENCE_MS = 240_000;

interface Drained {
  readonly letters: readonly Letter[];
  readonly conservation: { readonly holds: boolean; readonly inFlight: number };
}

/** Durable agents that send to each other, whose process is killed again and again; then what came of what was kept. */
export async function mailChaos(deps: ScenarioDeps, kills: number): Promise<Figures> {
  const figures = newFigures();
  const habits: Habits = {
    begins: /^up$/,
    commits: /^kept /,
    ends: /^stopping$/,
    bootMs: 700,
    workMs: 300,
    endMs: 60,
  };
  const begunMs = performance.now();
  for (let number = 1; figures.kills < kills && isWorthwhile(figures); number++)
    await correspondence(deps, figures, {
      number,
      habits,
      most: Math.min(kills, figures.kills + KILLS_OF_ONE),
    });
  figures.seconds = (performance.now() - begunMs) / 1_000;
  return figures;
}

interface Correspondence {
  readonly number: number;
  readonly habits: Habits;
  /** How many kills there are to be when it is over. */
  readonly most: number;
}

async function correspondence(
  { folder, random, say }: ScenarioDeps,
  figures: Figures,
  { number, habits, most }: Correspondence,
): Promise<void> {
  const own = join(folder, String(number));
  mkdirSync(own);
  const [journal, books, acks] = ['journal.db', 'books', 'acks'].map((name) => join(own, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(books, '');
  writeFileSync(acks, '');
  let from = 0;
  let processes = 0;
  const host = (...order: readonly (string | number)[]) => {
    if (processes++ > 0) figures.restarts += 1;
    return new Victim([HOST, journal, books, acks, ...order.map(String)], own);
  };
  while (figures.kills < most && isWorthwhile(figures)) {
    const moment = chooseMoment(random, ENVELOPES / BURST);
    const victim = host('send', from, ENVELOPES);
    from += ENVELOPES;
    await reach(victim, moment, habits);
    if (await victim.kill()) {
      figures.kills += 1;
      note(figures, `killed in ${moment.phase}`);
    } else if ((await victim.ended).code !== 0)
      figures.broken.push(`a host ended by itself: ${victim.errors}`);
  }
  const last = host('drain');
  const { code } = await last.ends(PATIENCE_MS);
  const line = last.lines.find((one) => one.startsWith('{'));
  if (code !== 0 || line === undefined)
    return void figures.broken.push(`correspondence ${number} could not be drained: ${last.errors}`);
  const { letters, conservation } = JSON.parse(line) as Drained;
  if (!conservation.holds || conservation.inFlight > 0)
    figures.broken.push(`correspondence ${number} does not add up: ${JSON.stringify(conservation)}`);
  judgeMail({ acknowledged: numbersIn(acks), books: entriesOf(books), letters }, figures);
  say(`correspondence ${number}: ${figures.kills} kills, ${figures.accepted} envelopes so far`);
}

/** A line that the process was killed over is no line: nobody was told of it. */
const linesOf = (file: string): readonly string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

const numbersIn = (acks: string): readonly number[] =>
  linesOf(acks).flatMap((line) => (line === '' ? [] : line.split(' ').map(Number)));

const entriesOf = (books: string): readonly Entry[] =>
  linesOf(books).map((line) => {
    const [what, who, n, pid] = line.split(' ');
    return { what, who, n: Number(n), pid: Number(pid) } as Entry;
  });
