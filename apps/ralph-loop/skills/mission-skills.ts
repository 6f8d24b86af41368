import { isDeepStrictEqual } from 'node:util';
import type { AskOptions, Capability } from 'orrery';
import type { Memory } from 'orrery/skills';
import { lostAnswer } from '../loop/lost-answer.ts';
import type { Team } from '../loop/team.ts';
import type { TaskView } from '../loop/why-it-goes-on.ts';
import type { WorkItem } from '../loop/work-item.ts';
import { type Taint, tainted, taintOfAll } from '../loop/work-taint.ts';
import type { SkillsReport } from '../report/skills-report.ts';
import { checkRules } from './check-rules.ts';
import { isFindingSubject, isWhole, type Lesson, lessonsOf, taskSubject, taskTag } from './lessons.ts';
import { loadSkills } from './load-skills.ts';
import type { Remembered } from './remembered.ts';

/**
 * - `team`    with the agents of `skillAgents`.
 * - `mission` its name. `root` absolute path of the repository.
 * - `project` what the repository is called in memory and in governance.
 * - `now`     Unix milliseconds.
 * - `signal`  ends what is under way, because the run is stopped.
 */
export interface MissionSkillsDeps {
  readonly team: Pick<Team, 'roster'> & { readonly loop: Pick<Team['loop'], 'ask'> };
  readonly mission: string;
  readonly root: string;
  readonly project: string;
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

/** What is given to an agent, and where that came from outside. */
export interface Recalled {
  readonly remembered: readonly Remembered[];
  readonly taint: Taint | undefined;
}

/** How long one request to a skill may take, milliseconds. */
const SKILL_MS = 60_000;
const MOST_QUERY = 4_096;
/** Memories that a task is given at most: of earlier runs of it, of its project, and of wider layers; and how long they are. */
const OWN = 20;
const OF_PROJECT = 10;
const WIDER = 5;
const MOST_CHARS = 32_000;
const A_PAGE = 500;

/**
 * What a mission has of the team's skills: earlier runs are recalled, what is learned is remembered, and the rules of the repository are
 * checked. A skill that fails stops no mission: the report says what was not done, and why.
 */
export class MissionSkills {
  readonly #deps: MissionSkillsDeps;
  readonly #recalled: { task: string; memories: string[] }[] = [];
  readonly #learned = { added: 0, changed: 0, kept: 0, gone: 0, omitted: 0 };
  readonly #failures: string[] = [];
  /** Resolves when everything that was learned so far is remembered: one task after the other. */
  #learning: Promise<void> = Promise.resolve();
  /** Why the memory is asked nothing more: each request would wait as long as the one that was not answered. */
  #silence: unknown;

  constructor(deps: MissionSkillsDeps) {
    this.#deps = deps;
  }

  /** What earlier runs, and people, have left that fits a task: nothing where that cannot be found out. */
  async recall(item: WorkItem, signal: AbortSignal): Promise<Recalled> {
    try {
      if (this.#silence !== undefined) throw this.#silence;
      const recalled = await this.#recall(item, signal);
      const memories = recalled.remembered.map(({ memory_id }) => memory_id);
      this.#recalled.push({ task: item.id, memories });
      return recalled;
    } catch (error) {
      const { reason, isLasting } = lostAnswer(error);
      if (!isLasting && !signal.aborted) this.#silence = error;
      this.#failures.push(`Nothing was recalled for "${item.id}": ${reason}`);
      return { remembered: [], taint: undefined };
    }
  }

  /** Remembers what a task that is over has taught. It is done when `conclude` resolves. */
  learn(view: TaskView): void {
    this.#learning = this.#learning.then(async () => {
      try {
        if (this.#silence !== undefined) throw this.#silence;
        await this.#learn(view);
      } catch (error) {
        const { reason, isLasting } = lostAnswer(error);
        if (!isLasting) this.#silence = error;
        this.#failures.push(`What "${view.context.item.id}" taught is not all remembered: ${reason}`);
      }
    });
  }

  /** Remembers what is left, and checks the repository against its rules, unless the run is stopped. */
  async conclude(): Promise<SkillsReport> {
    await this.#learning;
    const { project, signal } = this.#deps;
    const checked = signal?.aborted
      ? { failures: ['The rules were not checked: the run was stopped'] }
      : await checkRules(this.#deps);
    const { failures, ...rules } = checked;
    return {
      project,
      recalled: this.#recalled,
      learned: this.#learned,
      ...rules,
      failures: [...this.#failures, ...failures],
    };
  }

  async #recall(item: WorkItem, signal: AbortSignal): Promise<Recalled> {
    const { memorySearch } = await loadSkills();
    const { mission, project, now } = this.#deps;
    const options = { signal };
    const query = [item.title, item.description ?? '', ...item.acceptance].join('\n').slice(0, MOST_QUERY);
    const search = (over: object) =>
      this.#ask(
        memorySearch,
        { query: query.toWellFormed().replaceAll('\0', ' '), withShadowed: false, ...over },
        options,
      );
    const [own, ofProject, wider] = await Promise.all([
      this.#memoriesOf(item, options),
      search({ layers: ['project'], scope: project, limit: OF_PROJECT }),
      search({ layers: ['team', 'org', 'company'], limit: WIDER }),
    ]);
    const subject = taskSubject(mission, item.id);
    const last = own
      .filter((memory) => holdsAt(memory, now()))
      .sort(
        (one, other) =>
          Number(other.subject === subject) - Number(one.subject === subject) ||
          other.importance - one.importance,
      )
      .slice(0, OWN);
    const remembered = bounded([...last, ...ofProject.results, ...wider.results].map(rememberedOf));
    // Only what is given on has come from somewhere.
    return { remembered, taint: taintOfAll(remembered.map(({ taint }) => taint)) };
  }

  async #learn(view: TaskView): Promise<void> {
    const { mission } = this.#deps;
    const lessons = lessonsOf(view, mission);
    if (lessons === undefined) return;
    const known = new Map(
      (await this.#memoriesOf(view.context.item)).map((memory) => [memory.subject, memory]),
    );
    const faults: string[] = [];
    for (const lesson of [lessons.task, ...lessons.findings]) {
      try {
        await this.#remember(lesson, known.get(lesson.subject));
      } catch (error) {
        const { reason, isLasting } = lostAnswer(error);
        if (!isLasting) throw error;
        faults.push(reason);
      }
      known.delete(lesson.subject);
    }
    this.#learned.omitted += lessons.omitted;
    const [fault] = faults;
    if (fault !== undefined)
      this.#failures.push(
        `${faults.length} of ${lessons.findings.length + 1} memories of "${view.context.item.id}" were not kept: ${fault}`,
      );
    // What more there is may be found again: it is not gone.
    if (isWhole(view.status) && lessons.omitted === 0) await this.#forget([...known.values()]);
  }

  async #remember(lesson: Lesson, known: Memory | undefined): Promise<void> {
    const { memoryAdd, memoryUpdate } = await loadSkills();
    const { project } = this.#deps;
    const { subject, taint, tags, ...said } = lesson;
    if (known === undefined) {
      const memory = { ...said, tags: [...tags], subject, layer: 'project', scope: project } as const;
      const { duplicate } = await this.#ask(memoryAdd, memory, tainted(taint));
      this.#learned[duplicate ? 'kept' : 'added'] += 1;
      return;
    }
    const { memory_id, validUntil, content, importance, metadata } = known;
    if (validUntil === undefined && isDeepStrictEqual({ content, importance, metadata }, said)) {
      this.#learned.kept += 1;
      return;
    }
    const { content: saying, ...about } = said;
    const changes = {
      memory_id,
      ...(content === saying ? {} : { content: saying }),
      ...(validUntil === undefined ? {} : { validUntil: null }),
      tags: [...tags],
      ...about,
    };
    await this.#ask(memoryUpdate, changes, tainted(taint));
    this.#learned.changed += 1;
  }

  /** They hold no more: nobody finds them from now on, and whoever looks for what was said before still does. */
  async #forget(memories: readonly Memory[]): Promise<void> {
    const { memoryUpdate } = await loadSkills();
    const at = this.#deps.now();
    for (const memory of memories) {
      if (!holdsAt(memory, at)) continue;
      const validUntil = Math.max(at, (memory.validFrom ?? 0) + 1);
      await this.#ask(memoryUpdate, { memory_id: memory.memory_id, validUntil });
      this.#learned.gone += 1;
    }
  }

  /** What earlier runs of a task have left, whether it still holds or not; nothing that people have said of it. */
  async #memoriesOf({ id }: WorkItem, options: AskOptions = {}): Promise<readonly Memory[]> {
    const { memoryList } = await loadSkills();
    const { mission, project } = this.#deps;
    const memories: Memory[] = [];
    const isOfRuns = ({ subject = '' }: Memory): boolean =>
      subject === taskSubject(mission, id) || isFindingSubject(subject);
    for (let after: string | undefined; ; ) {
      const page = await this.#ask(
        memoryList,
        {
          layers: ['project'],
          scope: project,
          tags: [taskTag(mission, id)],
          limit: A_PAGE,
          ...(after === undefined ? {} : { after }),
        },
        options,
      );
      memories.push(...page.memories.filter(isOfRuns));
      if (page.next === undefined) return memories;
      after = page.next;
    }
  }

  #ask<Input, Output>(
    capability: Capability<Input, Output, unknown, unknown>,
    input: Input,
    options: AskOptions = {},
  ): Promise<Output> {
    const { team, mission, signal } = this.#deps;
    return team.loop.ask(capability, input, {
      timeoutMs: SKILL_MS,
      correlationId: mission,
      whenFull: 'park',
      ...(signal && { signal }),
      ...options,
    });
  }
}

const holdsAt = ({ validFrom, validUntil }: Memory, at: number): boolean =>
  (validFrom === undefined || validFrom <= at) && (validUntil === undefined || at < validUntil);

const rememberedOf = ({
  memory_id,
  content,
  subject,
  layer,
  scope,
  tags,
  updatedAt,
  taint,
}: Memory): Remembered => ({
  memory_id,
  content,
  ...(subject === undefined ? {} : { subject }),
  layer,
  scope,
  tags,
  updatedAt,
  ...(taint === undefined ? {} : { taint }),
});

/** Each once, as far as they are not too long together. */
function bounded(all: readonly Remembered[]): readonly Remembered[] {
  const distinct = new Map(all.map((memory) => [memory.memory_id, memory]));
  let room = MOST_CHARS;
  return [...distinct.values()].filter(({ content }) => {
    if (content.length > room) return false;
    room -= content.length;
    return true;
  });
}
