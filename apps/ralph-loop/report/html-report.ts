import { htmlEscape as html } from 'escape-goat';
import { SEVERITIES } from '../findings/finding.ts';
import { isDone } from '../loop/task-status.ts';
import { changeHtml, changesHtml } from './change-html.ts';
import { answerWords } from './choice-words.ts';
import { isChange, reasonLine } from './change-words.ts';
import { REPORT_STYLE } from './html-style.ts';
import type { MissionReport, Receipts, TaskReport } from './mission-report.ts';
import { byteCount, count, duration, printable } from './printable.ts';
import { skillsLines } from './skills-lines.ts';
import type { SkillsReport } from './skills-report.ts';

type Fragment = string;

/** Rules that are listed of each kind. */
const MAX_RULES = 200;

/**
 * Formats the report as one HTML page without scripts, fonts, pictures or links.
 *
 * Text from files, missions and agents is escaped. Characters that readers would not see, such as control characters and
 * direction marks, are shown as codes.
 */
export function htmlReport(report: MissionReport): string {
  const { mission, root, stopReason, findings, suppressed, refused, tasks, skills, receipts } = report;
  const title = html`<title>${text(`${mission.name}: ${stopReason}`)}</title>`;
  const body = [
    heading(report),
    section(`Findings (${findings.length})`, findingsBySeverity(report)),
    suppressed.length === 0
      ? ''
      : html`<p>${count(suppressed.length, 'finding')} of the former report, or of rules that are off, not listed.</p>`,
    changesHtml(report),
    section('Tasks', tasks.map((task) => taskCard(task, root)).join('\n')),
    refused.length === 0 ? '' : section(`Refused by ${report.gate}`, refusedTable(report)),
    skills === undefined ? '' : section('Skills', skillsList(skills)),
    receipts === undefined ? '' : section('Receipts', receiptTables(receipts)),
    html`<footer>${text(root)}</footer>`,
  ].join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
${title}
<style>${REPORT_STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

const text = (value: string): string => printable(value);

const section = (title: string, content: Fragment): Fragment =>
  `${html`<h2>${text(title)}</h2>`}\n${content}`;

function heading({ mission, stopReason, exitCode, startedAtMs, durationMs, tasks }: MissionReport): Fragment {
  const done = tasks.filter(({ status }) => isDone(status)).length;
  const kind = stopReason === 'all-accepted' ? 'good' : 'bad';
  const began = new Date(startedAtMs).toISOString();
  return [
    html`<h1>${text(mission.name)}</h1>`,
    mission.description === undefined ? '' : html`<p>${text(mission.description)}</p>`,
    html`<p><strong class="${kind}">${stopReason}</strong> (exit code ${exitCode}), ${done} of ${count(tasks.length, 'task')} done, ${duration(durationMs)}, began <time datetime="${began}">${began}</time></p>`,
  ].join('\n');
}

function findingsBySeverity({ findings }: MissionReport): Fragment {
  if (findings.length === 0) return '<p>None.</p>';
  return SEVERITIES.map((severity) => {
    const all = findings.filter((finding) => finding.severity === severity);
    if (all.length === 0) return '';
    const rows = all.map(({ file, line, column, message, rule, agent, evidence, also = [], judged }) => {
      const place = `${file}:${line}${column === undefined ? '' : `:${column}`}`;
      const rules = [rule, ...also.map((other) => other.rule)].map(text).join(', ');
      const agents = [...new Set([agent, ...also.map((other) => other.agent)])].map(text).join(', ');
      return html`<tr><td><code>${text(place)}</code></td><td>${text(message)}<br><code class="evidence">${text(evidence)}</code>${judged === false ? ' (not judged)' : ''}</td><td>${rules}</td><td>${agents}</td></tr>`;
    });
    const isOpen = severity === 'info' ? '' : ' open';
    return `<details${isOpen}><summary class="${severity}">${severity} (${all.length})</summary>\n${tableOf(['place', 'what', 'rule', 'agent'], rows)}</details>`;
  }).join('\n');
}

function taskCard(task: TaskReport, root: string): Fragment {
  const { id, title, status, why, capability, correlationId, swarm, attempts, notes, summary } = task;
  const { filesSeen, bytesSeen, taint, choices = [] } = task;
  const isOfChange = isChange(task);
  const seen = [
    ...(filesSeen === undefined ? [] : [count(filesSeen, 'file')]),
    ...(bytesSeen === undefined ? [] : [byteCount(bytesSeen)]),
  ].join(', ');
  return [
    html`<article><h3>${text(id)} <small>${text(title)}</small></h3>`,
    html`<p><strong class="${isDone(status) ? 'good' : 'bad'}">${status === 'nothing' ? 'nothing to read' : status}</strong>: ${isOfChange ? reasonLine(why) : text(why)}. ${capability}, thread <code>${text(correlationId)}</code>${seen === '' ? '' : `, ${seen}`}</p>`,
    isOfChange ? changeHtml(task, root) : '',
    summary === undefined ? '' : html`<p>${isOfChange ? 'Its agent says: ' : ''}${text(summary)}</p>`,
    taint === undefined ? '' : html`<p>From outside: ${text(taint.join(', '))}</p>`,
    attempts.length === 0
      ? ''
      : tableOf(
          ATTEMPT_HEAD,
          attempts.map((attempt) => attemptRow(attempt, isOfChange ? reasonLine : text)),
        ),
    choices.map(choiceTable).join('\n'),
    swarm === undefined ? '' : swarmTable(swarm),
    notes.length === 0 ? '' : noteList(notes),
    '</article>',
  ].join('\n');
}

function choiceTable({
  attempt,
  agent,
  bids,
  reason,
  answers,
}: NonNullable<TaskReport['choices']>[number]): Fragment {
  const ids = new Set([...bids, ...answers].map((one) => one.agent));
  const rows = [...ids].map((id) => {
    const { load, out = '' } = bids.find((bid) => bid.agent === id) ?? {};
    const said = answers
      .filter((answer) => answer.agent === id)
      .map(answerWords)
      .join('; ');
    const why = [id === agent ? ['chosen', reason ?? []].flat().join(': ') : '', out]
      .filter((part) => part !== '')
      .join('; ');
    return html`<tr><td>${text(id)}</td><td>${load ?? ''}</td><td>${text(why)}</td><td>${said}</td></tr>`;
  });
  return tableOf([`for attempt ${attempt}`, 'to do', 'why', 'answer'], rows);
}

const ATTEMPT_HEAD = ['attempt', 'agent', 'place', 'took', 'ended'] as const;

const attemptRow = (
  { number, agent, place, durationMs, gateMs, ended, reason }: TaskReport['attempts'][number],
  told: (reason: string) => string,
): Fragment =>
  html`<tr><td>${number}</td><td>${agent}</td><td>${place}</td><td>${duration(durationMs)}${gateMs === undefined ? '' : ` + ${duration(gateMs)} gate`}</td><td>${ended}${reason === undefined ? '' : `: ${told(reason)}`}</td></tr>`;

const swarmTable = ({ id, assignments }: NonNullable<TaskReport['swarm']>): Fragment =>
  tableOf(
    [html`swarm ${text(id)}`, 'envelope', 'took', 'ended'],
    assignments.map(
      ({ agent, epoch, envelopeId = '', startedAtMs, endedAtMs, end = 'has it', error }) =>
        html`<tr><td>${agent} (${epoch})</td><td><code>${envelopeId}</code></td><td>${endedAtMs === undefined ? '' : duration(endedAtMs - startedAtMs)}</td><td>${end}${error === undefined ? '' : `: ${text(error)}`}</td></tr>`,
    ),
  );

const noteList = (notes: TaskReport['notes']): Fragment => {
  const items = notes.map(
    ({ kind, file, reason }) =>
      html`<li>${kind}${file === undefined ? '' : ` ${text(file)}`}: ${text(reason)}</li>`,
  );
  return `<details><summary>left out (${notes.length})</summary>\n<ul>\n${items.join('\n')}\n</ul></details>`;
};

const refusedTable = ({ refused }: MissionReport): Fragment =>
  tableOf(
    ['task', 'place', 'rule', 'why it was refused'],
    refused.map(
      ({ task, finding, reason }) =>
        html`<tr><td>${text(task)}</td><td><code>${text(`${finding.file}:${finding.line}`)}</code></td><td>${finding.rule}</td><td>${text(reason)}</td></tr>`,
    ),
  );

function skillsList(skills: SkillsReport): Fragment {
  const { rules, memory, failures } = skillsLines(skills, { atMost: MAX_RULES });
  return `<ul>\n${[...rules, ...memory, ...failures].map((line) => html`<li>${line}</li>`).join('\n')}\n</ul>`;
}

function receiptTables({ envelopes, agents, deadLetters, threads }: Receipts): Fragment {
  const { accepted, handled, rejected, expired, deadLettered, inFlight, holds } = envelopes;
  return [
    html`<p>${accepted} envelopes accepted ${holds ? '=' : 'but'} ${handled} handled + ${rejected} rejected + ${expired} expired + ${deadLettered} dead-lettered + ${inFlight} in flight</p>`,
    tableOf(
      ['agent', 'place', 'thread or process', 'status', 'restarts'],
      agents.map(
        ({ name, place, threadId, pid, status, restarts }) =>
          html`<tr><td>${text(name)}</td><td>${place}</td><td>${whereOf(threadId, pid)}</td><td>${status}</td><td>${restarts}</td></tr>`,
      ),
    ),
    deadLetters.length === 0
      ? ''
      : tableOf(
          ['dead letter to', 'code', 'why'],
          deadLetters.map(
            ({ recipient, code, reason }) =>
              html`<tr><td>${text(recipient)}</td><td>${code}</td><td>${text(reason)}</td></tr>`,
          ),
        ),
    threads.map(threadDetails).join('\n'),
  ].join('\n');
}

const whereOf = (threadId: number | undefined, pid: number | undefined): string =>
  pid !== undefined ? `process ${pid}` : threadId === undefined ? '' : `thread ${threadId}`;

const threadDetails = ({ correlationId, envelopes }: Receipts['threads'][number]): Fragment => {
  const rows = envelopes.map(
    ({ atMs, id, sender, recipient, type, says }) =>
      html`<tr><td>${new Date(atMs).toISOString()}</td><td><code>${id}</code></td><td>${text(sender)} to ${text(recipient)}</td><td>${type}</td><td>${text(says)}</td></tr>`,
  );
  const summary = html`<summary>thread ${text(correlationId)} (${count(envelopes.length, 'envelope')})</summary>`;
  return `<details>${summary}\n${tableOf(['made', 'envelope', 'from and to', 'type', 'what it says'], rows)}</details>`;
};

const tableOf = (head: readonly string[], rows: readonly Fragment[]): Fragment =>
  `<table><thead><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody></table>`;
