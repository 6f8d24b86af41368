import {
  type ConversationSummary,
  durationText,
  type Recording,
  type Scene,
  shownText,
  sinceStart,
} from '@orrery/visualiser/model';
import { agentCard } from '../agent-card.ts';
import { cell, columnsOf, fit, wrapped } from '../cells.ts';
import { conversationLines } from '../conversation-lines.ts';
import { type LineStyle, taskLine, teamLines, troubleLine } from '../team-lines.ts';
import { ownMachines, type Shown, teamRows } from '../team-rows.ts';
import type { Item, TopView } from './top-view.ts';

/** A page as lines; those of an item can be chosen. `fixed` is how many lines at its top never scroll. */
export interface PageLines {
  readonly fixed: number;
  readonly lines: readonly { readonly text: string; readonly item?: Item }[];
}

/** The lines of the page that is chosen. */
export function pageLines(view: TopView, shown: Shown, recording: Recording, style: LineStyle): PageLines {
  if (view.opened?.kind === 'agent') return plain(openedAgent(view.opened.id, shown, recording), style);
  if (view.opened?.kind === 'conversation')
    return plain(openedConversation(view.opened.id, recording), style);
  switch (view.page) {
    case 'team':
      return teamPage(view, shown, style);
    case 'trouble':
      return troublePage(view, shown, style);
    case 'work':
      return workPage(view, shown.scene, style);
    case 'conversations':
      return conversationsPage(view, shown.scene, recording, style);
  }
}

/** How many lines of the screen one line of what is opened may take. */
const MOST_OF_LINE = 4;

const plain = (lines: readonly string[], { columns }: LineStyle): PageLines => ({
  fixed: 0,
  lines: lines.flatMap((line) =>
    columnsOf(line) <= columns
      ? { text: line }
      : wrapped(line, columns, MOST_OF_LINE).map((text) => ({ text })),
  ),
});

function teamPage({ sort, filter, selectedId }: TopView, shown: Shown, style: LineStyle): PageLines {
  const rows = teamRows(shown, { sort, filter });
  const [head = '', ...lines] = teamLines(rows, style, selectedId);
  return {
    fixed: 1,
    lines: [
      { text: head },
      ...rows.map((row, at) => {
        const text = lines[at] ?? '';
        return row.kind === 'agent'
          ? { text, item: { id: row.id, opens: { kind: 'agent', id: row.id } as const } }
          : { text };
      }),
    ],
  };
}

/** Marks a line as the chosen one, also without colours. */
function chosen(text: string, isChosen: boolean, { columns, paint }: LineStyle): string {
  return isChosen ? paint('inverse', cell(`> ${text}`, columns)) : text;
}

/** A page of lines that can all be chosen, under a heading. */
function listPage(
  heading: string,
  entries: readonly { readonly item: Item; readonly draw: (style: LineStyle) => string }[],
  { selectedId }: TopView,
  style: LineStyle,
): PageLines {
  const { columns, paint } = style;
  const room = { columns: columns - 2, paint };
  return {
    fixed: 1,
    lines: [
      { text: paint('bold', fit(shownText(heading), columns)) },
      ...entries.map(({ item, draw }) => {
        const isChosen = item.id === selectedId;
        const text = draw(isChosen ? { ...room, paint: (_, own) => own } : room);
        return { text: isChosen ? chosen(text, true, style) : `  ${text}`, item };
      }),
    ],
  };
}

const isMeant = (text: string, filter: string): boolean => text.toLowerCase().includes(filter.toLowerCase());

function troublePage(view: TopView, { scene, troubles }: Shown, style: LineStyle): PageLines {
  const meant = troubles.filter(({ text }) => isMeant(text, view.filter));
  const heading =
    meant.length === 0 ? 'Trouble: nothing is wrong' : `Trouble: ${meant.length}, the worst first`;
  const entries = meant.map((trouble) => ({
    item: { id: trouble.key, opens: opensOf(trouble.conversationId, trouble.agentId) },
    draw: (room: LineStyle) => troubleLine(scene, trouble, room),
  }));
  return listPage(heading, entries, view, style);
}

function opensOf(conversationId: string | undefined, agentId: string | undefined): Item['opens'] {
  if (agentId !== undefined) return { kind: 'agent', id: agentId };
  return conversationId === undefined ? undefined : { kind: 'conversation', id: conversationId };
}

function workPage(view: TopView, scene: Scene, style: LineStyle): PageLines {
  const { mission, proposals } = scene;
  const tasks = [...(mission?.tasks.values() ?? [])].filter(({ id, agentId = '' }) =>
    isMeant(`${id} ${agentId}`, view.filter),
  );
  const open = [...proposals.values()].filter(({ state }) => /pending|open/.test(state));
  const heading = mission === undefined ? 'Work: no mission runs here' : `Work: ${mission.name}`;
  const entries = [
    ...tasks.map((task) => ({
      item: { id: `task ${task.id}`, opens: opensOf(undefined, task.agentId) },
      draw: (room: LineStyle) => taskLine(task, scene, room),
    })),
    ...open.map(({ id, proposer, capability, deadlineAtMs, conversationId }) => ({
      item: { id: `proposal ${id}`, opens: opensOf(conversationId, undefined) },
      draw: ({ columns }: LineStyle) => {
        const left =
          deadlineAtMs === undefined ? '' : `, ${durationText(Math.max(0, deadlineAtMs - scene.atMs))} left`;
        return fit(
          shownText(`  proposed by ${proposer ?? 'somebody'}: ${capability ?? id}${left}`, 300),
          columns,
        );
      },
    })),
  ];
  return listPage(heading, entries, view, style);
}

const MOST_CONVERSATIONS = 200;

function conversationsPage(view: TopView, scene: Scene, recording: Recording, style: LineStyle): PageLines {
  const found = recording.conversations({ max: MOST_CONVERSATIONS, text: view.filter });
  const heading = `Conversations: ${recording.conversationCount}, the last first`;
  const entries = found.map((one) => ({
    item: { id: one.id, opens: { kind: 'conversation', id: one.id } as const },
    draw: (room: LineStyle) => conversationLine(one, scene, room),
  }));
  return listPage(heading, entries, view, style);
}

function conversationLine(
  { id, from, to, capability, events, lastMs, troubles }: ConversationSummary,
  { atMs }: Scene,
  { columns, paint }: LineStyle,
): string {
  const who = `${from ?? '?'} -> ${to ?? '?'}`;
  const text = shownText(
    `${who}  ${capability ?? ''}  ${events} events, ${durationText(Math.max(0, atMs - lastMs))} ago`,
    300,
  );
  const wide = Math.min(36, Math.floor(columns * 0.4));
  const line = fit(`${troubles > 0 ? '!' : ' '} ${cell(shownText(id), wide)} ${text}`, columns);
  return troubles > 0 ? paint('yellow', line) : line;
}

const MOST_STEPS = 5;

function openedAgent(id: string, { scene, waits }: Shown, recording: Recording): string[] {
  const agent = scene.agents.get(id);
  if (agent === undefined) return [`${shownText(id)} is not there any more`];
  const awaited = waits.filter((wait) => wait.awaited === id);
  const steps = ownMachines(scene, id)
    .flatMap(({ machine, steps: all }) => all.map((step) => ({ machine, ...step })))
    .sort((one, other) => other.atMs - one.atMs)
    .slice(0, MOST_STEPS);
  const letters = scene.deadLetters.filter(({ recipient }) => recipient === id).slice(-MOST_STEPS);
  return [
    ...agentCard(agent, scene),
    ...titled(
      'Who waits for it',
      awaited.map(
        ({ waiter, capability, sinceMs, isBegun }) =>
          `${waiter}, for ${durationText(scene.atMs - sinceMs)}, ${capability ?? 'a request'}, ${isBegun ? 'begun' : 'in the mailbox'}`,
      ),
    ),
    ...titled(
      'Its last steps',
      steps.map(
        ({ atMs, machine, event, from, to }) =>
          `${sinceStart(atMs, scene.startedAtMs)}  ${machine}: ${event}, ${from} to ${to}`,
      ),
    ),
    ...titled(
      'Letters that did not reach it',
      letters.map(
        ({ sender, type, reason, code }) => `${type} of ${sender}: ${reason === '' ? code : reason}`,
      ),
    ),
    ...titled(
      'What it talks about',
      recording
        .conversations({ agentId: id, max: 10 })
        .map(
          ({ id: one, events, lastMs }) =>
            `${one}, ${events} events, ${durationText(Math.max(0, scene.atMs - lastMs))} ago`,
        ),
    ),
  ];
}

const titled = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${shownText(line, 300)}`)];

function openedConversation(id: string, recording: Recording): string[] {
  const conversation = recording.conversation(id);
  return conversation === undefined
    ? [`Nothing is kept of ${shownText(id)} any more`]
    : conversationLines(conversation);
}
