import { count, table } from '@orrery/ralph-loop';
import {
  type ArrowRow,
  type Conversation,
  durationText,
  isWrong,
  type Row,
  shownText,
  sinceStart,
} from '@orrery/visualiser/model';

/** The exact sequence of a conversation as text: who sent what to whom, and how it ended. */
export function conversationLines({
  id,
  rows,
  participants,
  firstMs,
  lastMs,
  leftOut,
}: Conversation): string[] {
  const who = participants.map(({ id: one, places }) =>
    shownText(places.length === 0 ? one : `${one} (${places.join(', ')})`),
  );
  return [
    `Conversation ${shownText(id, 256)}: ${count(rows.length, 'step')} in ${durationText(lastMs - firstMs)}`,
    `Between ${who.join(', ')}`,
    '',
    ...table(
      rows.map((row) => [sinceStart(row.atMs, firstMs), ...cellsOf(row)]),
      '  ',
    ),
    ...(leftOut === 0 ? [] : ['', `and ${count(leftOut, 'event')} more, which are not shown`]),
  ];
}

function cellsOf(row: Row): string[] {
  if (row.kind === 'note') {
    const times = row.times > 1 ? ` (${row.times} times)` : '';
    return [shownText(row.agentId), row.isBad ? 'x' : '', shownText(`${row.text}${times}`, 400)];
  }
  const { from, to, isAnswer, messageType, capability, attempt } = row;
  const what = [
    isAnswer && messageType === 'response' ? 'answer' : messageType,
    capability ?? '',
    attempt > 1 ? `(attempt ${attempt})` : '',
    ...endingOf(row),
  ];
  return [
    shownText(`${from} ${isAnswer ? '-->' : '->'} ${to}`),
    isWrong(row) ? 'x' : '',
    shownText(what.filter((part) => part !== '').join(' '), 600),
  ];
}

function endingOf({
  outcome,
  code,
  reason,
  receivedAtMs,
  settledAtMs,
  taint,
  deadlineAtMs,
  atMs,
}: ArrowRow): string[] {
  const took = settledAtMs === undefined ? undefined : durationText(settledAtMs - (receivedAtMs ?? atMs));
  const ended = outcome === 'handled' ? `handled in ${took}` : [outcome, code].filter(Boolean).join(' ');
  const parts = [
    ended,
    reason === undefined || reason === code ? '' : reason,
    outcome === undefined && deadlineAtMs !== undefined
      ? `until ${durationText(deadlineAtMs - atMs)} later`
      : '',
    taint === undefined ? '' : `from outside: ${taint.join(', ')}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`- ${parts.join('; ')}`];
}
