import { readFileSync } from 'node:fs';
import type { SystemEventType } from 'orrery';
import { describe, expect, it } from 'vitest';
import { COMMANDS, type OptionSpec } from '../../options.ts';
import type { TraceHeader } from '../../trace-file.ts';

const doc = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');

const block = (text: string, language: string): unknown =>
  JSON.parse(text.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '') as unknown;

/** The compiler holds this list against the type, the test holds the page against this list. */
const EVENT_TYPES: Readonly<Record<SystemEventType, true>> = {
  'message-sent': true,
  'message-received': true,
  'routing-decision': true,
  'tool-invocation': true,
  'model-call': true,
  error: true,
  'envelope-settled': true,
  'dead-letter': true,
  progress: true,
  'agent-started': true,
  'agent-crashed': true,
  'agent-restarting': true,
  'agent-failed': true,
  'agent-stopped': true,
  'agent-upgraded': true,
  'agent-parked': true,
  'place-started': true,
  'place-died': true,
  'process-ended': true,
  'peer-status': true,
  'peer-negotiated': true,
  warning: true,
  journal: true,
  history: true,
  'router-state': true,
  'channel-status': true,
  negotiation: true,
  swarm: true,
  'server-log': true,
  watchdog: true,
  'declared-clean': true,
  catalogue: true,
  'outsider-refused': true,
  fault: true,
  'machine-step': true,
  'events-left-out': true,
  mission: true,
};

describe('docs/trace.md', () => {
  const trace = doc('trace.md');

  it('shows a header and an event as they are written', () => {
    const header = block(trace, 'json header') as TraceHeader;
    expect(header).toMatchObject({ format: 'orrery-trace', version: 1 });
    expect(Object.keys(header)).toEqual([
      'format',
      'version',
      'orrery',
      'startedAtMs',
      'mission',
      'root',
      'agents',
      'machines',
    ]);
    expect(Object.keys(EVENT_TYPES)).toContain((block(trace, 'json event') as { type: string }).type);
  });

  it('explains every type of event', () => {
    for (const type of Object.keys(EVENT_TYPES)) expect(trace).toContain(`\`${type}\``);
  });
});

describe('docs/loops-compared.md', () => {
  /** `$T FILE -t 'words'`, as the page writes it. */
  const shown = [...doc('loops-compared.md').matchAll(/\$T ([\w./-]+\.test\.ts)(?: -t '([^']+)')?/g)];

  it('names tests that are there, by words of their titles', () => {
    expect(shown.length).toBeGreaterThan(5);
    for (const [, file = '', words = ''] of shown) {
      const test = readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
      expect(test, `${file}: ${words}`).toMatch(
        new RegExp(`\\b(?:it|describe)(?:\\.skipIf\\(.*\\))?\\(\\s*['\`][^\\n]*${words}`),
      );
    }
  });

  it('names files and versions of others, one row for each loop', () => {
    const [, table = ''] = doc('loops-compared.md').split('## What was looked at');
    const rows = [...(table.split('## ')[0] ?? '').matchAll(/^\| (?!loop|---)(.*) \|$/gm)];
    expect(rows).toHaveLength(10);
    for (const [, row = ''] of rows) expect(row).toMatch(/`[^`]+`|https:/);
  });
});

describe('the options', () => {
  it('are all explained in one line each', () => {
    for (const { options } of Object.values(COMMANDS)) {
      for (const { help } of Object.values<OptionSpec>(options))
        for (const text of typeof help === 'string' ? [help] : Object.values(help))
          expect(text).toMatch(/^[A-Z].{5,110}$/);
    }
  });
});
