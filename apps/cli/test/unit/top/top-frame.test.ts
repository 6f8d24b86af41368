import { plain } from '@orrery/ralph-loop';
import { Recording } from '@orrery/visualiser/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../cells.ts';
import { topFrame } from '../../../top/top-frame.ts';
import { FIRST_VIEW, type TopView } from '../../../top/top-view.ts';
import type { LinkStatus } from '../../../watch/watch-link.ts';
import { ACTED_ON, HOSTILE, outcome, recordingOf, request, stateOf, told } from '../../fixtures/told.ts';

const live: LinkStatus = { kind: 'live' };

const busy = (): Recording =>
  recordingOf(
    stateOf(10_000, [
      { id: 'mars', name: 'MARS', capabilities: ['types.check'] },
      { id: 'venus', name: 'VENUS', waiting: 1_000 },
      {
        id: 'earth',
        name: 'EARTH',
        place: 'worker-2',
        status: 'failed',
        restarts: 4,
        lastError: 'it is out of luck',
      },
    ]),
    [
      told('mission', 10_000, { mission: 'audit', step: 'mission-started' }),
      told('mission', 10_000, { mission: 'audit', task: 'types', agentId: 'mars', step: 'task-started' }),
      told('mission', 10_000, { mission: 'audit', task: 'cycles', step: 'task-failed', reason: 'no luck' }),
      ...request('types', 'mars', 10_100),
      ...request('late', 'venus', 10_200, { sender: 'mars' }),
      told('progress', 11_000, { agentId: 'venus', fraction: 0.4, reason: 'reading' }),
      told('events-left-out', 12_000, { place: 'worker-1', count: 345 }),
    ],
  );

const drawn = (
  view: Partial<TopView> = {},
  { columns = 100, rows = 30, recording = busy(), status = live as LinkStatus } = {},
): readonly string[] =>
  topFrame(
    { ...FIRST_VIEW, ...view },
    { recording, scene: recording.latest, status, nowMs: 12_000 },
    { columns, rows, paint: plain },
  ).lines;

describe('the first page of orrery top', () => {
  it('says in a sentence what the team does, trouble first, then the work and the rates', () => {
    const lines = drawn();
    expect(lines[0]).toMatch(/^Orrery: audit, for 11 s +live$/);
    expect(lines.slice(1).join(' ')).toMatch(
      /^MARS and VENUS work at “audit”, of 3 agents; 1 of 2 tasks is done;/,
    );
    const text = lines.join('\n');
    expect(text).toContain('✕ EARTH gave up after 4 restarts: it is out of luck');
    expect(text).toContain('✕ The mailbox of VENUS is full: 1000 of 1000');
    expect(text).toContain('Work [##########..........] 1 of 2 tasks done, 1 failed');
    expect(text).toMatch(/at types by mars \d/);
    expect(text).toMatch(/[\d.]+ sent a second, .*2 in flight, 0 dead letters/);
    expect(text).toContain('345 events were left out under load: what is shown is a sample');
    expect(lines.at(-1)).toMatch(/^\? help {2}q ends/);
  });

  it('shows threads, and of each agent state, work, mailbox, rate and restarts', () => {
    const lines = drawn();
    const at = lines.findIndex((line) => line.startsWith('  AGENT'));
    expect(lines[at]).toMatch(/^ {2}AGENT +STATE +DOING +MAIL +PER S +RESTARTS$/);
    expect(lines[at + 1]).toMatch(/^ worker-1: 2 agents, 345 events left out$/);
    expect(lines[at + 2]).toMatch(/^ {2}MARS +waits +1\.8 s for VENUS, types\.check +0\/1000 +0\.0 +0\/3$/);
    expect(lines[at + 3]).toMatch(
      /^ ✕VENUS +works +types\.check, 1\.8 s 40 % reading +1000\/1000 +0\.0 +0\/3$/,
    );
    expect(lines[at + 4]).toBe(' worker-2: 1 agent');
    expect(lines[at + 5]).toMatch(/^ ✕EARTH +gave up +it is out of luck +0\/1000 +0\.0 +0\/3$/);
  });

  it('marks the chosen agent without colour, sorts and filters', () => {
    expect(drawn({ selectedId: 'venus' }).some((line) => line.startsWith('>✕VENUS'))).toBe(true);
    const names = (view: Partial<TopView>) =>
      drawn(view).flatMap((line) => /^[> ][ ✕!]([A-Z]{4,}) (?!.*RESTARTS)/.exec(line)?.[1] ?? []);
    expect(names({ sort: 'name' })).toEqual(['EARTH', 'MARS', 'VENUS']);
    expect(names({ sort: 'mailbox' })[0]).toBe('VENUS');
    expect(names({ filter: 'types' })).toEqual(['MARS']);
  });

  it('says when the connection is lost, and when it tries again', () => {
    const status: LinkStatus = { kind: 'lost', why: 'nobody listens there', retryAtMs: 14_000 };
    expect(drawn({}, { status })[0]).toContain('NOT CONNECTED: nobody listens there, again in 2.0 s');
    expect(drawn({}, { recording: Recording.live(), status: { kind: 'connecting' } }).slice(0, 2)).toEqual([
      'orrery top  connecting',
      'Nothing is known of the team yet',
    ]);
  });
});

describe('the other pages of orrery top', () => {
  it('show trouble, the work, and the conversations with how they went', () => {
    expect(drawn({ page: 'trouble' }).join('\n')).toMatch(/Trouble: \d+, the worst first\n {2}✕ /);
    const work = drawn({ page: 'work' }).join('\n');
    expect(work).toMatch(/Work: audit\n +working +types +mars, 2\.0 s\n {2}✕ failed +cycles +no luck/);
    const talk = drawn({ page: 'conversations', selectedId: 'audit/late' }).join('\n');
    expect(talk).toMatch(/^> +audit\/late +mars -> venus {2}types\.check/m);
  });

  it('open an agent with who waits for it, and a conversation as a sequence', () => {
    const agent = drawn({ opened: { kind: 'agent', id: 'venus' } }).join('\n');
    expect(agent).toContain('VENUS (venus), tier 2, in worker-1');
    expect(agent).toMatch(/Who waits for it\n {2}mars, for 1\.8 s, types\.check, begun/);
    const talk = drawn({ opened: { kind: 'conversation', id: 'audit/late' } }).join('\n');
    expect(talk).toContain('Conversation audit/late: 1 step');
    expect(talk).toMatch(/0:00\.000 +mars -> venus +request types\.check/);
    expect(drawn({ opened: { kind: 'agent', id: 'pluto' } }).join('\n')).toContain(
      'pluto is not there any more',
    );
    expect(drawn({ isHelp: true })[0]).toContain('It changes nothing there');
  });
});

const views = fc.record({
  page: fc.constantFrom('team', 'trouble', 'work', 'conversations' as const),
  sort: fc.constantFrom('place', 'trouble', 'mailbox', 'rate', 'name' as const),
  selectedId: fc.constantFrom(undefined, 'mars', HOSTILE),
  opened: fc.constantFrom(
    undefined,
    { kind: 'agent', id: HOSTILE } as const,
    { kind: 'conversation', id: `audit/${HOSTILE}` } as const,
  ),
  isHelp: fc.boolean(),
  isTyping: fc.boolean(),
  isPaused: fc.boolean(),
  scroll: fc.nat(1_000),
});

describe('every frame', () => {
  it('fits any terminal, and does nothing to it, whatever agents are called', () => {
    const recording = recordingOf(
      stateOf(
        1_000,
        [
          { id: HOSTILE, name: HOSTILE, capabilities: [HOSTILE], lastError: HOSTILE, status: 'failed' },
          { id: 'mars', name: '火星'.repeat(30), status: 'parked', parked: { reason: HOSTILE } },
        ],
        {
          name: HOSTILE,
          peers: [{ node: HOSTILE, status: HOSTILE, agents: [] }],
          nodes: [{ url: 'http://b', node: `other ${HOSTILE}`, trouble: HOSTILE, agents: [], places: [] }],
        },
      ),
      [
        told('mission', 1_000, { mission: HOSTILE, task: HOSTILE, step: 'task-failed', reason: HOSTILE }),
        ...request(HOSTILE, 'mars', 1_100, { sender: HOSTILE, capability: HOSTILE }),
        outcome(HOSTILE, 'mars', 1_200, { outcome: 'rejected', reason: HOSTILE }),
        told('dead-letter', 1_300, { envelopeId: 'x', sender: HOSTILE, recipient: HOSTILE, reason: HOSTILE }),
      ],
    );
    fc.assert(
      fc.property(
        views,
        fc.integer({ min: 20, max: 200 }),
        fc.integer({ min: 3, max: 80 }),
        (view, columns, rows) => {
          const lines = drawn(view, {
            columns,
            rows,
            recording,
            status: { kind: 'lost', why: HOSTILE, retryAtMs: 5 },
          });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) {
            expect(columnsOf(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(ACTED_ON);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
