import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as draft4 from 'ajv-draft-04';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../report/html-report.ts';
import type { MissionReport } from '../../report/mission-report.ts';
import { sarifReport } from '../../report/sarif-report.ts';
import { finding } from './fake-team.ts';

const NASTY = `<img src=x onerror=alert(1)> & "quotes" 'too' \u202e\u0007`;

const report: MissionReport = {
  format: 'orrery-report',
  version: 1,
  mission: { name: NASTY, description: NASTY },
  root: '/home/me/my shop#1',
  startedAtMs: 1_795_300_000_000,
  durationMs: 2_140,
  stopReason: 'task-failed',
  exitCode: 1,
  assigner: 'sun',
  gate: 'mercury',
  findings: [
    { ...finding({ id: 'one', severity: 'critical', file: 'src/a b#c%.ts', evidence: NASTY }), task: 'a' },
    {
      ...finding({ id: 'two', severity: 'medium', rule: 'process.shell-command', message: NASTY }),
      task: 'a',
    },
    { ...finding({ id: 'three', severity: 'info', column: 7 }), task: 'b' },
  ],
  suppressed: [{ finding: { ...finding({ id: 'old', message: NASTY }), task: 'a' }, by: 'baseline' }],
  refused: [{ finding: finding({ id: 'four' }), reason: NASTY, task: 'a' }],
  tasks: [
    {
      id: 'a',
      task: 'a',
      title: NASTY,
      capability: 'work',
      status: 'failed',
      why: NASTY,
      correlationId: 'm/a',
      dependsOn: [],
      swarm: {
        id: NASTY,
        assignments: [{ agent: 'venus', epoch: 2, startedAtMs: 5, end: 'failed', error: NASTY }],
        lates: 1,
      },
      attempts: [
        {
          agent: 'mars',
          place: 'worker-1',
          number: 1,
          startedAtMs: 1,
          durationMs: 5,
          ended: 'refused',
          reason: NASTY,
        },
      ],
      notes: [{ kind: 'unreadable', file: 'x y.ts', reason: NASTY }],
      filesSeen: 3,
      bytesSeen: 4_000,
    },
  ],
  receipts: {
    envelopes: {
      accepted: 1,
      handled: 0,
      rejected: 0,
      expired: 0,
      deadLettered: 1,
      inFlight: 0,
      holds: true,
    },
    agents: [{ id: 'mars', name: 'MARS', place: 'worker-1', status: 'running', restarts: 0 }],
    deadLetters: [{ sender: 'a', recipient: 'b', code: 'POISON', reason: NASTY }],
    threads: [
      {
        correlationId: 'm/a',
        envelopes: [{ id: 'e1', atMs: 5, sender: 'a', recipient: NASTY, type: 'request', says: NASTY }],
      },
    ],
  },
};

describe('the report as SARIF', () => {
  const log = sarifReport(report, '0.1.0');

  it('is valid by the schema of SARIF 2.1.0', () => {
    const { resolve } = createRequire(import.meta.url);
    const path = resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
    const schema = JSON.parse(readFileSync(path, 'utf8')) as object;
    const validate = new draft4.default.default({
      strict: false,
      unicodeRegExp: false,
      validateFormats: false,
      allErrors: true,
    }).compile(schema);
    validate(JSON.parse(JSON.stringify(log)));
    expect(validate.errors).toBeNull();
  });

  it('has every finding, at its place in the repository', () => {
    const [run] = log.runs;
    expect(run?.results?.map(({ level, partialFingerprints }) => [level, partialFingerprints])).toEqual([
      ['error', { 'orreryFinding/v1': 'one' }],
      ['warning', { 'orreryFinding/v1': 'two' }],
      ['note', { 'orreryFinding/v1': 'three' }],
      ['error', { 'orreryFinding/v1': 'old' }],
    ]);
    expect(run?.results?.map(({ suppressions = [] }) => suppressions.length)).toEqual([0, 0, 0, 1]);
    for (const { ruleId, ruleIndex } of run?.results ?? []) {
      expect(run?.tool.driver.rules?.[ruleIndex ?? -1]?.id).toBe(ruleId);
    }
    const location = run?.results?.[0]?.locations?.[0]?.physicalLocation;
    expect(location?.artifactLocation?.uri).toBe('src/a%20b%23c%25.ts');
    const base = run?.originalUriBaseIds?.['SRCROOT']?.uri ?? '';
    expect(new URL(location?.artifactLocation?.uri ?? '', base).pathname).toBe(
      '/home/me/my%20shop%231/src/a%20b%23c%25.ts',
    );
    expect(run?.results?.[2]?.locations?.[0]?.physicalLocation?.region?.startColumn).toBe(7);
  });

  it('says what was left out and what failed', () => {
    const [invocation] = log.runs[0]?.invocations ?? [];
    expect(invocation?.executionSuccessful).toBe(false);
    expect(invocation?.toolExecutionNotifications?.map(({ level }) => level)).toEqual(['error', 'note']);
  });
});

describe('the report as HTML', () => {
  const page = htmlReport(report);
  const elements: DefaultTreeAdapterTypes.Element[] = [];
  const texts: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) elements.push(node);
    if (node.nodeName === '#text') texts.push((node as DefaultTreeAdapterTypes.TextNode).value);
    if ('childNodes' in node) node.childNodes.forEach(visit);
  };
  const faults: string[] = [];
  visit(parse(page, { onParseError: ({ code }) => faults.push(code) }));

  it('is a page without a fault, a script, or anything from elsewhere', () => {
    expect(faults).toEqual([]);
    const names = new Set(elements.map(({ tagName }) => tagName));
    for (const name of ['script', 'img', 'link', 'iframe', 'object']) expect(names.has(name)).toBe(false);
    const attributes = elements.flatMap(({ attrs }) => attrs);
    expect(attributes.filter(({ name }) => /^(src|href|on.*)$/.test(name))).toEqual([]);
  });

  it('shows what comes from files as text, and by its code what nobody would see', () => {
    const shown = texts.join('\n');
    expect(shown).toContain(`<img src=x onerror=alert(1)> & "quotes" 'too' \\u202e\\x07`);
    for (const unseen of ['\u0007', '\u202e']) expect(page).not.toContain(unseen);
  });

  it('has every finding, attempt, refusal, note and receipt', () => {
    const shown = texts.join('\n');
    for (const part of [
      'src/a b#c%.ts:',
      'process.shell-command',
      'worker-1',
      'unreadable',
      'POISON',
      'm/a',
    ]) {
      expect(shown).toContain(part);
    }
    expect(
      elements.filter(({ tagName }) => tagName === 'summary').map(({ attrs }) => attrs[0]?.value),
    ).toEqual(['critical', 'medium', 'info', undefined, undefined]);
  });
});
