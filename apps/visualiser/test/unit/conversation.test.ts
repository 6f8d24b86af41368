import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  conversationOf,
  readEnvelopes,
  rowText,
  sequenceMermaid,
  sequenceSvg,
  withEnvelopes,
} from '../../model/index.ts';
import { event, eventValues, requestEvents } from '../fixtures/events.ts';
import { readEvent } from '../../model/watched-event.ts';

const told = ({ rows }: Conversation): string[] => rows.map(rowText);

describe('a conversation (F-08)', () => {
  it('is an arrow for each envelope, with who, what, when and how it ended', () => {
    const found = conversationOf('work', requestEvents('venus', 'mars', { atMs: 100 }));
    expect(found.participants).toEqual([
      { id: 'venus', isSystem: false, places: ['host'] },
      { id: 'mars', isSystem: false, places: ['worker-1'] },
    ]);
    expect(told(found)).toEqual([
      'venus to mars: request work.do; handled in 1 ms',
      'mars to venus: response',
    ]);
    expect(found.rows[1]).toMatchObject({ isAnswer: true });
  });

  it('puts what threads tell out of order into the order in which it happened', () => {
    const [sent, received, settled, answered] = requestEvents('venus', 'mars');
    const turned = [answered, received, settled, sent].filter((one) => one !== undefined);
    expect(told(conversationOf('work', turned))).toEqual(
      told(conversationOf('work', requestEvents('venus', 'mars'))),
    );
  });

  it('has a row for each time that it was tried, and why it ended', () => {
    const about = { envelopeId: 'p', sender: 'a', recipient: 'b', messageType: 'request' };
    const found = conversationOf('x', [
      event('message-sent', 1, about),
      event('message-received', 2, about),
      event('message-received', 3, about),
      event('error', 4, {
        ...about,
        agentId: 'b',
        errorCode: 'ACTOR_DIED',
        outcome: 'dead-lettered',
        reason: 'it died twice',
      }),
      event('dead-letter', 5, about),
    ]);
    expect(told(found)).toEqual([
      'a to b: request',
      'a to b: attempt 2 · request; ✕ dead-lettered ACTOR_DIED; it died twice',
      'b: ACTOR_DIED it died twice',
    ]);
  });

  it('shows a refusal, a broadcast, and an envelope that a capability named', () => {
    const found = conversationOf('x', [
      event('routing-decision', 1, {
        envelopeId: 'r',
        sender: 'a',
        recipient: 'b',
        messageType: 'request',
        errorCode: 'TIER_DENIED',
        reason: 'too low',
      }),
      event('message-sent', 2, {
        envelopeId: 'all',
        sender: 'a',
        recipient: '*',
        messageType: 'notification',
      }),
      event('message-received', 3, {
        envelopeId: 'all',
        sender: 'a',
        recipient: '*',
        targetAgentId: 'b',
        messageType: 'notification',
      }),
      event('message-received', 4, {
        envelopeId: 'all',
        sender: 'a',
        recipient: '*',
        targetAgentId: 'c',
        messageType: 'notification',
      }),
      event('message-sent', 5, {
        envelopeId: 'k',
        sender: 'a',
        recipient: 'types.check',
        messageType: 'request',
      }),
      event('routing-decision', 5, {
        envelopeId: 'k',
        sender: 'a',
        recipient: 'types.check',
        targetAgentId: 'c',
        messageType: 'request',
      }),
    ]);
    expect(told(found)).toEqual([
      'a to b: request; ✕ refused TIER_DENIED; too low',
      'a to b: notification',
      'a to c: notification',
      'a to c: request',
    ]);
    expect(found.participants.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('has taint, and the budget that the envelope itself tells', () => {
    const tainted = requestEvents('venus', 'mars').map((one) => ({ ...one, taint: ['web:example.org'] }));
    const found = conversationOf('x', tainted);
    const id = tainted[0]?.envelopeId;
    const envelopes = readEnvelopes({
      envelopes: [{ id, payload: { a: 1 }, metadata: { budget: { tokens: 5, hops: 2 } } }, 7],
    });
    expect(told(withEnvelopes(found, envelopes))[0]).toBe(
      'venus to mars: request work.do; handled in 1 ms · ⚑ from web:example.org · ◔ 5 tokens, 2 hops',
    );
    expect(envelopes.get(id ?? '')?.text).toContain('"a": 1');
  });

  it('is drawn as SVG and Mermaid in which names are text, whatever they are', () => {
    const evil = '<script>alert("1")</script>&\u202E%%{init}%%;\n-->>';
    const found = conversationOf(evil, requestEvents(evil, 'b"; participant x', { capability: evil }));
    const svg = sequenceSvg(found);
    expect(svg).not.toMatch(/<script|&(?!amp;|lt;|gt;|quot;|#39;)|\u202E/);
    const lines = sequenceMermaid(found).trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines.slice(1, 3).join().replace(/#\d+;/g, '')).not.toMatch(/[<>";%]/);
    for (const line of lines.slice(3)) expect(line).toMatch(/^ {2}p\d(->>|-->>)p\d: /);
  });

  it('never throws, and always makes well-formed drawings', () => {
    fc.assert(
      fc.property(fc.array(eventValues, { maxLength: 40 }), (values) => {
        const events = values.map(readEvent).filter((one) => one !== undefined);
        const found = conversationOf('x', events);
        const svg = sequenceSvg(found);
        expect(svg.match(/<g\b/g)?.length ?? 0).toBe(svg.match(/<\/g>|<g\/>/g)?.length ?? 0);
        expect(sequenceMermaid(found)).toMatch(/^sequenceDiagram\n/);
      }),
      { numRuns: 100 },
    );
  });
});
