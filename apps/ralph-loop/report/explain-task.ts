import type { Choice } from '../loop/choice.ts';
import { answerWords, bidWords } from './choice-words.ts';
import { isChange, reasonLine } from './change-words.ts';
import type { MissionReport, TaskReport } from './mission-report.ts';
import { type Paint, plain } from './paint.ts';
import { duration, printable } from './printable.ts';
import { table } from './table.ts';

/**
 * Formats the thread of one task as lines: who was chosen among whom, who proposed, accepted, refused and worked, why, and in which
 * envelope.
 *
 * `taskId` is a task of the mission; all its parts are shown.
 */
export function explainTask(report: MissionReport, taskId: string, paint: Paint = plain): string[] {
  const parts = report.tasks.filter(({ task }) => task === taskId);
  return [
    paint('bold', `Task ${taskId}`),
    ...parts.flatMap((part) => [
      `  ${part.id} is ${part.status}: ${isChange(part) ? reasonLine(part.why) : printable(part.why)}`,
      ...(part.choices ?? []).flatMap((choice) => choiceLines(choice, report.assigner)),
      ...(part.swarm?.assignments ?? []).map(
        ({ agent, epoch, end = 'has it', error, envelopeId }) =>
          `    in swarm ${part.swarm?.id}, ${agent} (epoch ${epoch}, envelope ${envelopeId ?? 'unknown'}): ${end}${error === undefined ? '' : `, ${printable(error)}`}`,
      ),
    ]),
    '',
    ...threadLines(report, parts),
    '',
  ];
}

/** Each bid and each answer in a line of its own. */
function choiceLines({ attempt, agent, bids, reason, answers }: Choice, assigner: string): string[] {
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  return [
    `    for attempt ${attempt} ${assigner} chose ${printable(agent)}${why}`,
    ...[...bids.map(bidWords), ...answers.map(answerWords)].map((line) => `      ${line}`),
  ];
}

function threadLines({ receipts, startedAtMs }: MissionReport, parts: readonly TaskReport[]): string[] {
  const correlationId = parts[0]?.correlationId;
  const entries = receipts?.threads.find((thread) => thread.correlationId === correlationId)?.envelopes ?? [];
  if (entries.length === 0)
    return ['  No envelope of it is known any more: it was stopped, or they are too old.'];
  const rows = entries.map(({ atMs, id, sender, recipient, type, says }) => [
    `+${duration(Math.max(0, atMs - startedAtMs))}`,
    id,
    `${sender} -> ${recipient}`,
    type,
    printable(says),
  ]);
  return table(rows, '  ');
}
