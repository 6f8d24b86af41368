import { count, table } from '@orrery/ralph-loop';
import {
  durationText,
  nameIn,
  type Scene,
  sentenceOf,
  shownText,
  sinceStart,
  type TraceHeader,
} from '@orrery/visualiser/model';
import type { Heard, Mishap, PastWait, RunTally } from './run-tally.ts';

const MOST = 10;
const MOST_TASKS = 40;

/** Says in plain words what a run did: how much, what went wrong, who waited, and what became of its tasks. */
export function runLines(tally: RunTally, header: TraceHeader | undefined): string[] {
  const { scene } = tally;
  const sections = [
    aboutLines(tally, header),
    section('Tasks', taskLines(scene)),
    wrongLines(tally),
    section('Dead letters', letterLines(tally)),
    section('Started again', restartLines(scene)),
    section('Waited longest', waitLines(tally)),
    section('Agents', agentLines(scene)),
    section('Conversations', conversationLines(tally)),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

function aboutLines({ scene, firstMs = 0 }: RunTally, header: TraceHeader | undefined): string[] {
  const { about, totals, startedAtMs, atMs, places, spending, leftOut } = scene;
  const agents = [...scene.agents.values()].filter(({ isSystem }) => !isSystem).length;
  const on = about.root === undefined ? '' : ` on ${about.root}`;
  const by = about.orrery === undefined ? '' : ` with Orrery ${about.orrery}`;
  const began = startedAtMs === 0 ? firstMs : startedAtMs;
  // The times of a simulation are virtual: they begin at no date.
  const when = header?.seed === undefined ? `Recorded ${timeText(began)}${by}` : 'Recorded in virtual time';
  const also = [
    ...(totals.refused === 0 ? [] : [`${count(totals.refused, 'refusal')}`]),
    ...(totals.toolCalls === 0 ? [] : [count(totals.toolCalls, 'tool call')]),
    ...(totals.modelCalls === 0 ? [] : [count(totals.modelCalls, 'model call')]),
    ...(spending.tokens === 0 ? [] : [count(spending.tokens, 'token')]),
    ...(spending.costUsd === 0 ? [] : [`$${spending.costUsd.toFixed(2)}`]),
    ...(leftOut === 0 ? [] : [`${count(leftOut, 'event')} left out under load`]),
  ];
  return [
    shownText(`${about.name}${on}`, 400),
    `${when}: ${durationText(atMs - began)}, ${count(totals.events, 'event')}`,
    `${count(agents, 'agent')} in ${count(places.size, 'thread')} sent ${count(totals.sent, 'envelope')}; ${outcomesText(scene)}`,
    ...(also.length === 0 ? [] : [`Beside that ${also.join(', ')}`]),
    shownText(`At its end: ${sentenceOf(scene)}`, 600),
  ];
}

function outcomesText({ totals, inFlight }: Scene): string {
  const { handled, rejected, expired, deadLettered } = totals;
  const parts = [
    `${handled} handled`,
    ...(rejected === 0 ? [] : [`${rejected} rejected`]),
    ...(expired === 0 ? [] : [`${expired} expired`]),
    ...(deadLettered === 0 ? [] : [`${deadLettered} dead-lettered`]),
    ...(inFlight.size === 0 ? [] : [`${inFlight.size} not ended`]),
  ];
  return parts.join(', ');
}

const timeText = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The time since the start, as the lines begin with it. */
const at = ({ startedAtMs }: Scene, atMs: number): string => sinceStart(atMs, startedAtMs);

function taskLines({ mission }: Scene): string[] {
  if (mission === undefined) return [];
  const tasks = [...mission.tasks.values()];
  const rows = tasks.slice(0, MOST_TASKS).map(({ id, state, agentId, attempts, reason, gates }) => {
    const refusal = gates.findLast(({ passed }) => !passed);
    const why = reason ?? refusal?.reason ?? '';
    const tries = attempts > 1 ? `${attempts} attempts` : '';
    return [state, id, agentId ?? '', tries, why].map((text) => shownText(text, 160));
  });
  return [...table(rows), ...more(tasks.length - rows.length)];
}

function wrongLines(tally: RunTally): string[] {
  const { mishaps, unlisted, scene } = tally;
  if (mishaps.length === 0) return ['Nothing went wrong'];
  const shown = mishaps.slice(0, MOST * 2);
  const left = mishaps.slice(shown.length).reduce((sum, { times }) => sum + times, unlisted);
  return section('What went wrong', [...table(shown.map((one) => mishapRow(scene, one))), ...more(left)]);
}

const mishapRow = (scene: Scene, { kind, code, text, firstMs, times }: Mishap): string[] => [
  at(scene, firstMs),
  times === 1 ? '' : `${times} times`,
  kind,
  shownText(code === undefined || text.includes(code) ? text : `${text} (${code})`, 240),
];

function letterLines({ scene }: RunTally): string[] {
  const { deadLetters, deadLetterTotal } = scene;
  const shown = deadLetters.slice(-MOST);
  const rows = shown.map(({ atMs, sender, recipient, type, code, reason }) => [
    at(scene, atMs),
    shownText(`${nameIn(scene, sender)} to ${nameIn(scene, recipient)}`),
    shownText(type),
    shownText(reason === '' ? code : reason, 160),
  ]);
  const before = deadLetterTotal - shown.length;
  return [...(before > 0 ? [`the last ${shown.length} of ${deadLetterTotal}:`] : []), ...table(rows)];
}

function restartLines({ agents, places }: Scene): string[] {
  const restarted = [...agents.values()].filter(({ restarts }) => restarts > 0);
  const died = [...places.values()].filter(({ deaths }) => deaths > 0);
  const rows = [
    ...restarted.map(({ name, restarts, lastError, status }) => [
      shownText(name),
      count(restarts, 'time'),
      status,
      shownText(lastError?.text ?? '', 160),
    ]),
    ...died.map(({ id, deaths, isAlive }) => [
      `thread ${shownText(id)}`,
      count(deaths, 'time'),
      isAlive ? 'running' : 'not back',
      '',
    ]),
  ];
  return [...table(rows.slice(0, MOST * 2)), ...more(rows.length - MOST * 2)];
}

function waitLines({ longestWaits, scene }: RunTally): string[] {
  return table(longestWaits.slice(0, MOST / 2).map((wait) => waitRow(scene, wait)));
}

const waitRow = (scene: Scene, wait: PastWait): string[] => [
  durationText(wait.ms),
  shownText(`${nameIn(scene, wait.waiter)} for ${nameIn(scene, wait.awaited)}`),
  shownText(wait.capability ?? ''),
  wait.ended ?? 'and still waits',
  shownText(wait.conversationId ?? ''),
];

function agentLines({ agents, atMs }: Scene): string[] {
  const all = [...agents.values()].filter(({ isSystem }) => !isSystem);
  const busiest = all.sort((one, other) => other.handled + other.sent - one.handled - one.sent);
  const rows = busiest
    .slice(0, MOST * 3)
    .map((agent) => [
      shownText(agent.name),
      shownText(agent.place ?? '-'),
      agent.status === 'running' ? '' : agent.status,
      `${agent.handled} handled`,
      agent.failed === 0 ? '' : `${agent.failed} not`,
      agent.inHand === undefined
        ? ''
        : shownText(
            `works at ${agent.inHand.capability ?? agent.inHand.messageType ?? 'an envelope'} for ${durationText(atMs - agent.inHand.sinceMs)}`,
          ),
    ]);
  return [...table(rows), ...more(all.length - rows.length)];
}

function conversationLines({ conversations, scene }: RunTally): string[] {
  const shown = conversations.slice(0, MOST / 2);
  if (shown.length === 0) return [];
  return [
    ...table(shown.map((one) => heardRow(scene, one))),
    ...more(conversations.length - shown.length),
    'orrery inspect FILE --conversation ID shows one',
  ];
}

const heardRow = (scene: Scene, { id, firstMs, lastMs, events, wrong }: Heard): string[] => [
  shownText(id),
  at(scene, firstMs),
  durationText(lastMs - firstMs),
  count(events, 'event'),
  wrong === 0 ? '' : `${wrong} wrong`,
];

const more = (left: number): string[] => (left > 0 ? [`and ${left} more`] : []);
