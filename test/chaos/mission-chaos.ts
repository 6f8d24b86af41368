import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissionReport } from '../../apps/ralph-loop/index.ts';
import { type Figures, isWorthwhile, newFigures, note } from './figures.ts';
import { chooseMoment, type Habits, type Moment, reach } from './kill-moment.ts';
import { findingsOf, judgeMission, type MissionLife } from './mission-judge.ts';
import { HABITS, readEffects, readLog } from './mission-log.ts';
import { auditMission, buildingMission, type PlannedMission } from './mission-plan.ts';
import { auditedRepository } from './audited-repository.ts';
import type { ScenarioDeps } from './scenario.ts';
import { Victim } from './victim.ts';

const ORRERY = fileURLToPath(new URL('../../apps/cli/main.ts', import.meta.url));
const HOOK = fileURLToPath(new URL('./fixtures/small-team-hook.ts', import.meta.url));

/** How many kills one mission gets, at most; then the next one has its turn. */
const MOST_KILLS = 8;
/** Nothing takes so long; it is there so that a run that hangs ends. */
const PATIENCE_MS = 240_000;
const NO_PROGRESS = /the journal has no progress of a mission|the journal has the progress of "/;

/** How missions are run and what is known of them from outside. */
interface Kind {
  readonly options: readonly string[];
  readonly plan: (number: number) => PlannedMission;
  readonly root: (number: number) => string;
  readonly effects: string | undefined;
  /** What an undisturbed run finds. */
  readonly findings: readonly string[] | undefined;
}

/** `orrery run` with a small team whose work can be seen from outside, killed again and again until its missions are done. */
export function missionChaos(deps: ScenarioDeps, kills: number): Promise<Figures> {
  const effects = join(deps.folder, 'effects');
  const root = (number: number) => newFolder(join(deps.folder, `site-${number}`));
  const plan = (number: number) => buildingMission(number, deps.random, effects);
  const kind = { options: ['--import', HOOK], plan, root, effects, findings: undefined };
  return new MissionChaos(deps, kind).run(kills);
}

/** The same with the 21 planets, and a repository that they audit; what they find is what they find undisturbed. */
export async function auditChaos(deps: ScenarioDeps, kills: number): Promise<Figures> {
  const root = auditedRepository(newFolder(join(deps.folder, 'repository')));
  const kind = { options: [], plan: auditMission, root: () => root, effects: undefined, findings: undefined };
  const findings = await new MissionChaos(deps, kind).findUndisturbed();
  return new MissionChaos(deps, { ...kind, findings }).run(kills);
}

class MissionChaos {
  readonly #deps: ScenarioDeps;
  readonly #kind: Kind;
  readonly #figures = newFigures();
  readonly #habits: Habits = { ...HABITS, bootMs: 1_500, workMs: 700, endMs: 120 };
  readonly #journal: string;
  readonly #report: string;

  constructor(deps: ScenarioDeps, kind: Kind) {
    this.#deps = deps;
    this.#kind = kind;
    this.#journal = join(deps.folder, 'journal.db');
    this.#report = join(deps.folder, 'report.json');
  }

  async run(kills: number): Promise<Figures> {
    const begunMs = performance.now();
    for (let number = 1; this.#figures.kills < kills && isWorthwhile(this.#figures); number++)
      await this.#mission(number, kills);
    this.#figures.seconds = (performance.now() - begunMs) / 1_000;
    return this.#figures;
  }

  async findUndisturbed(): Promise<readonly string[]> {
    const plan = this.#kind.plan(0);
    const victim = this.#start(plan, this.#kind.root(0), false);
    const { code } = await victim.ends(PATIENCE_MS);
    if (code !== 0) throw new Error(`A run that nobody disturbs ends with ${code}: ${victim.errors}`);
    return findingsOf(MissionReport.parse(JSON.parse(readFileSync(this.#report, 'utf8'))).findings);
  }

  /** Runs a mission until it is done, in as many processes as it takes, and judges it. */
  async #mission(number: number, kills: number): Promise<void> {
    const { random } = this.#deps;
    const { effects, findings } = this.#kind;
    const plan = this.#kind.plan(number);
    const root = this.#kind.root(number);
    if (effects !== undefined) writeFileSync(effects, '');
    const most = Math.min(kills, this.#figures.kills + 1 + Math.floor(random() * MOST_KILLS));
    const lives: MissionLife[] = [];
    let isResumed = false;
    for (;;) {
      const moment = this.#figures.kills < most ? chooseMoment(random, plan.items.length) : undefined;
      const victim = this.#start(plan, root, isResumed);
      const isDone = await this.#live(victim, moment);
      const log = readLog(victim.lines);
      lives.push({ pid: victim.pid, log, lines: victim.lines });
      // What it had begun it has to go on with; before that there may be nothing to go on with.
      const mayBeNew = !lives.some(({ log: { hasBegun } }) => hasBegun);
      if (isDone === 'nothing kept') {
        if (!mayBeNew) return void this.#broken(plan, `it cannot be resumed: ${victim.errors}`);
        isResumed = false;
        continue;
      }
      if (isDone === 'failed')
        return void this.#broken(plan, `it ended by itself: ${victim.errors || victim.lines.at(-1)}`);
      if (isDone === 'done') break;
      isResumed = true;
      this.#figures.restarts += 1;
    }
    const before = this.#figures.broken.length;
    const seen = effects === undefined ? undefined : readEffects(effects);
    const report = readFileSync(this.#report, 'utf8');
    judgeMission(
      { name: plan.name, items: plan.items, lives, effects: seen, report, findings },
      this.#figures,
    );
    if (this.#figures.broken.length > before) this.#keepEvidence(plan, lives);
    this.#deps.say(`${plan.name}: done in ${lives.length} processes, ${this.#figures.kills} kills so far`);
  }

  /** How one process ended: `killed` by us, or by itself. */
  async #live(
    victim: Victim,
    moment: Moment | undefined,
  ): Promise<'killed' | 'done' | 'failed' | 'nothing kept'> {
    if (moment !== undefined) {
      await reach(victim, moment, this.#habits);
      if (await victim.kill()) {
        this.#figures.kills += 1;
        note(this.#figures, `killed in ${moment.phase}`);
        return 'killed';
      }
    }
    const { code } = await victim.ends(PATIENCE_MS);
    if (code === 0) return 'done';
    return code === 64 && NO_PROGRESS.test(victim.errors) ? 'nothing kept' : 'failed';
  }

  #start({ name, text }: PlannedMission, root: string, isResumed: boolean): Victim {
    const file = join(this.#deps.folder, `${name}.json`);
    writeFileSync(file, text);
    rmSync(this.#report, { force: true });
    const words = [
      ...this.#kind.options,
      ORRERY,
      'run',
      file,
      '--verbose',
      '--repo',
      root,
      '--journal',
      this.#journal,
    ];
    return new Victim(
      [...words, '--json', this.#report, ...(isResumed ? ['--resume'] : [])],
      this.#deps.folder,
    );
  }

  /** What each process printed and did, for whoever looks for the reason. */
  #keepEvidence({ name }: PlannedMission, lives: readonly MissionLife[]): void {
    const { effects } = this.#kind;
    const printed = lives.map(({ pid, lines }) => `process ${pid}\n${lines.join('\n')}`);
    const done = effects === undefined ? [] : ['effects', readFileSync(effects, 'utf8')];
    writeFileSync(join(this.#deps.folder, `${name}.log`), [...printed, ...done].join('\n\n'));
  }

  #broken({ name }: PlannedMission, what: string): void {
    this.#figures.broken.push(`${name}: ${what}`);
  }
}

function newFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}
