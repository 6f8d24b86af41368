import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AcpUpdates } from '../../../../actors/coding/acp/acp-updates.ts';
import { CodingEvent } from '../../../../actors/coding/coding-event.ts';

const begun = (): AcpUpdates => {
  const updates = new AcpUpdates();
  updates.follow('s');
  updates.begin();
  return updates;
};
const told = (update: Record<string, unknown>, sessionId = 's') => ({ sessionId, update });
const chunk = (text: string, messageId?: string) =>
  told({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
const readAll = (updates: AcpUpdates, all: readonly unknown[]) => all.flatMap((each) => updates.read(each));

describe('Updates of a session', () => {
  it('join the pieces of a message, until another one or something else comes', () => {
    const updates = begun();
    const plan = told({ sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'pending' }] });
    expect(readAll(updates, [chunk('Hel'), chunk('lo'), plan, chunk('A', 'a'), chunk('B', 'b')])).toEqual([
      { type: 'said', text: 'Hello' },
      { type: 'planned', entries: [{ text: 'Look', status: 'open' }] },
      { type: 'said', text: 'A' },
    ]);
    expect(updates.end()).toEqual([{ type: 'said', text: 'B' }]);
    expect(updates.end()).toEqual([]);
  });

  it('keep no more of a message than is told', () => {
    const updates = begun();
    for (let piece = 0; piece < 100; piece++) updates.read(chunk('x'.repeat(1_000)));
    expect(updates.end()).toEqual([{ type: 'said', text: 'x'.repeat(2_000) }]);
  });

  it('begin and end each tool once, with the files of its locations and changes', () => {
    const updates = begun();
    const content = [
      { type: 'diff', path: '/b', newText: '' },
      { type: 'terminal', terminalId: 't' },
    ];
    const events = readAll(updates, [
      told({
        sessionUpdate: 'tool_call',
        toolCallId: '1',
        title: 'Edit\n it',
        kind: 'edit',
        locations: [{ path: '/a' }],
        content,
      }),
      told({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'in_progress' }),
      told({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'failed' }),
      told({ sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'completed' }),
      told({ sessionUpdate: 'tool_call_update', toolCallId: '2', kind: 'switch_mode', status: 'completed' }),
    ]);
    expect(events).toEqual([
      { type: 'tool.started', toolId: '1', kind: 'edit', title: 'Edit it', paths: ['/a', '/b'] },
      { type: 'tool.ended', toolId: '1', isError: true },
      { type: 'tool.started', toolId: '2', kind: 'other', title: '', paths: [] },
      { type: 'tool.ended', toolId: '2', isError: false },
    ]);
  });

  it('keep in mind what a tool has named, when it is asked for and names less', () => {
    const updates = begun();
    updates.read(
      told({
        sessionUpdate: 'tool_call',
        toolCallId: '1',
        title: 'Edit',
        kind: 'edit',
        locations: [{ path: '/etc/a' }],
      }),
    );
    const toolCall = { toolCallId: '1', locations: [{ path: 'a' }] };
    expect(updates.asked(toolCall)).toMatchObject({ kind: 'edit', paths: ['/etc/a', 'a'] });
    expect(updates.asked({ toolCallId: '2' })).toEqual({ kind: 'other', title: '', paths: [] });
  });

  it('know nothing of a tool that names more files than are looked at', () => {
    const updates = begun();
    const named = (from: number) => Array.from({ length: 1_000 }, (_, at) => ({ path: `f${from + at}` }));
    for (const from of [0, 1_000])
      updates.read(
        told({ sessionUpdate: 'tool_call', toolCallId: '1', kind: 'edit', locations: named(from) }),
      );
    expect(updates.asked({ toolCallId: '1' }).kind).toBe('edit');
    expect(updates.asked({ toolCallId: '1', locations: [{ path: '/etc/a' }] }).kind).toBe('other');
  });

  it('tell dollars since the turn has begun, and nothing of other money', () => {
    const updates = new AcpUpdates();
    updates.follow('s');
    const cost = (amount: number, currency = 'USD') =>
      told({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency } });
    expect(readAll(updates, [cost(2), chunk('before')])).toEqual([]);
    updates.begin();
    expect(readAll(updates, [cost(2.5), cost(9, 'EUR')])).toEqual([
      { type: 'usage', usage: { costUsd: 0.5 } },
    ]);
    expect(updates.end()).toEqual([]);
  });

  it('say nothing of other sessions, and of what nobody reads', () => {
    const other = told({ sessionUpdate: 'tool_call', toolCallId: '1' }, 'another');
    expect(
      readAll(begun(), [
        other,
        told({ sessionUpdate: 'made_up' }),
        told({ sessionUpdate: 'agent_thought_chunk' }),
      ]),
    ).toEqual([]);
  });

  it('are unreadable where they are none', () => {
    const bad = [undefined, [], {}, told({}), told({ sessionUpdate: 'plan', entries: 'x' })];
    expect(readAll(begun(), bad).map(({ type }) => type)).toEqual(bad.map(() => 'unreadable'));
  });

  it('make events that fit, whatever comes', () => {
    const kind = fc.constantFrom(
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
      'plan',
      'usage_update',
    );
    const fields = fc.dictionary(
      fc.constantFrom(
        'content',
        'toolCallId',
        'title',
        'kind',
        'status',
        'locations',
        'entries',
        'cost',
        'messageId',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constant({ type: 'text', text: 'said' }),
        fc.constant([{ path: 'p' }]),
        fc.string(),
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(kind, fields)), (all) => {
        const updates = begun();
        const events = readAll(
          updates,
          all.map(([sessionUpdate, rest]) => told({ ...rest, sessionUpdate })),
        );
        for (const event of [...events, ...updates.end()]) CodingEvent.parse(event);
      }),
    );
  });
});
