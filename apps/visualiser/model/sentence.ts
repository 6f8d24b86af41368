import { durationText } from './durations.ts';
import { isTaskOver } from './task-state.ts';
import type { Scene } from './scene.ts';
import { nameIn, type Trouble, troublesOf, type Wait, waitsOf } from './troubles.ts';

/** Says in plain words what the team is doing, and whether something is wrong. */
export function sentenceOf(
  scene: Scene,
  waits: readonly Wait[] = waitsOf(scene),
  troubles: readonly Trouble[] = troublesOf(scene, waits),
): string {
  const parts = [workPart(scene), taskPart(scene), waitPart(scene, waits), troublePart(troubles)];
  const text = parts.filter((part) => part !== '').join('; ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

const few = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

function workPart(scene: Scene): string {
  const agents = [...scene.agents.values()].filter(({ isSystem }) => !isSystem);
  if (agents.length === 0) return 'nothing has been heard of any agent yet';
  const busy = agents.filter(({ inHand, status }) => inHand !== undefined && status === 'running');
  const { mission } = scene;
  if (mission?.endedAtMs !== undefined)
    return `the mission “${mission.name}” is over; ${few(agents.length, 'agent')} ${agents.length === 1 ? 'is' : 'are'} there`;
  const at = mission === undefined ? '' : ` at “${mission.name}”`;
  if (busy.length === 0)
    return `${few(agents.length, 'agent')}${mission === undefined ? '' : ` of “${mission.name}”`}, none of them busy now`;
  if (busy.length <= 3) {
    const names = busy.map(({ name }) => name);
    return `${listed(names)} ${busy.length === 1 ? 'works' : 'work'}${at}, of ${few(agents.length, 'agent')}`;
  }
  return `${busy.length} of ${few(agents.length, 'agent')} work${at}`;
}

function taskPart({ mission }: Scene): string {
  if (mission === undefined || mission.tasks.size === 0) return '';
  const tasks = [...mission.tasks.values()];
  const done = tasks.filter(({ state }) => isTaskOver(state)).length;
  const all = `${few(tasks.length, 'task')}${mission.isGuessed ? ' begun so far' : ''}`;
  const paused = mission.pausedBy === undefined ? '' : `, and it is paused by ${mission.pausedBy}`;
  return `${done} of ${all} ${done === 1 ? 'is' : 'are'} done${paused}`;
}

/** A wait of less is how asking looks. */
const WORTH_TELLING_MS = 1_000;

function waitPart(scene: Scene, waits: readonly Wait[]): string {
  const longest = waits.find(({ sinceMs }) => scene.atMs - sinceMs >= WORTH_TELLING_MS);
  if (longest === undefined) return '';
  const { names, last } = chainOf(scene, waits, longest);
  const waiters = names.slice(0, -1).map((name, at) => (at === 0 ? name : `${name}, which`));
  return `${waiters.join(' waits for ')} waits for ${names.at(-1)} (${durationText(scene.atMs - last.sinceMs)})`;
}

const MAX_CHAIN = 4;

/** Who waits for whom who waits for whom: the last is the one that all of them wait for. */
function chainOf(
  scene: Scene,
  waits: readonly Wait[],
  first: Wait,
): { readonly names: readonly string[]; readonly last: Wait } {
  const ids = [first.waiter, first.awaited];
  let last = first;
  while (ids.length < MAX_CHAIN) {
    const next = waits.find(({ waiter, awaited }) => waiter === last.awaited && !ids.includes(awaited));
    if (next === undefined) break;
    ids.push(next.awaited);
    last = next;
  }
  return { names: ids.map((id) => nameIn(scene, id)), last };
}

function troublePart(troubles: readonly Trouble[]): string {
  const bad = troubles.filter(({ level }) => level === 'bad');
  const warnings = troubles.filter(({ level }) => level === 'warning');
  const [first] = [...bad, ...warnings];
  if (first === undefined) return 'nothing is wrong';
  if (bad.length === 0) return `${few(warnings.length, 'thing')} to look at`;
  if (bad.length === 1) return `one thing is wrong: ${shortly(first.text)}`;
  return `${bad.length} things are wrong, first: ${shortly(first.text)}`;
}

/** Without the reason, which stands where the trouble is told of. */
const shortly = (text: string): string => text.split(': ', 1)[0] ?? text;

function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
