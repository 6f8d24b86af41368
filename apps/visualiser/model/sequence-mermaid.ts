import type { ArrowRow, Conversation, Row } from './conversation.ts';
import { mermaidText } from './mermaid.ts';
import { isWrong } from './sequence.ts';

const MAX_ROWS = 2_000;

/** The conversation as a Mermaid `sequenceDiagram`. */
export function sequenceMermaid({ participants, rows, leftOut }: Conversation): string {
  const names = new Map(participants.map(({ id }, at) => [id, `p${at}`]));
  const heads = participants.map(({ id, places }) => {
    const where = places.length === 0 ? '' : ` (${mermaidText(places.join(', '), 60)})`;
    return `  participant ${names.get(id)} as ${mermaidText(id, 60)}${where}`;
  });
  const lines = rows.slice(0, MAX_ROWS).flatMap((row) => lineOf(row, names));
  const left = rows.length - Math.min(rows.length, MAX_ROWS) + leftOut;
  const more =
    left === 0 || heads.length === 0 ? [] : [`  Note over p0: and ${left} more, which are not drawn`];
  return `${['sequenceDiagram', ...heads, ...lines, ...more].join('\n')}\n`;
}

function lineOf(row: Row, names: ReadonlyMap<string, string>): string[] {
  if (row.kind === 'note') {
    const at = names.get(row.agentId);
    return at === undefined ? [] : [`  Note over ${at}: ${mermaidText(row.text)}`];
  }
  const from = names.get(row.from);
  const to = names.get(row.to);
  if (from === undefined || to === undefined) return [];
  return [`  ${from}${arrowOf(row)}${to}: ${labelOf(row)}`];
}

function arrowOf(row: ArrowRow): string {
  if (isWrong(row)) return row.isAnswer ? '--x' : '-x';
  return row.isAnswer ? '-->>' : '->>';
}

function labelOf({ messageType, capability, attempt, outcome, code, taint, budget }: ArrowRow): string {
  const parts = [
    `${messageType}${capability === undefined ? '' : ` ${capability}`}`,
    attempt > 1 ? `attempt ${attempt}` : '',
    outcome === undefined || outcome === 'handled' ? '' : `${outcome}${code === undefined ? '' : ` ${code}`}`,
    taint === undefined ? '' : `from ${taint.join(' and ')}`,
    budget ?? '',
  ];
  return mermaidText(parts.filter((part) => part !== '').join(', '));
}
