import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortConversation } from '../../../runtime/observe/sort-conversation.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import { envelopeOf } from '../routing/standalone-team.ts';

const hop = (envelopeId: string) => ({ agent: 'x', capability: 'y', envelopeId });

const asks = (id: string, above: readonly string[], timestamp: number): A2AEnvelope =>
  envelopeOf({
    id,
    sender: 'a',
    recipient: 'b',
    type: 'request',
    timestamp,
    metadata: { tier: 3, path: above.map(hop) },
  });

const answers = (id: string, inReplyTo: string, timestamp: number): A2AEnvelope =>
  envelopeOf({
    id,
    sender: 'b',
    recipient: 'a',
    type: 'response',
    timestamp,
    metadata: { tier: 3, inReplyTo },
  });

describe('inOrderOfTalk (N-2.4)', () => {
  it('sorts by time, and within one millisecond by who caused whom', () => {
    const told = [
      asks('1', [], 5),
      asks('2', ['1'], 5),
      asks('3', ['1', '2'], 5),
      answers('4', '3', 5),
      answers('5', '2', 5),
      answers('6', '1', 5),
      asks('7', [], 6),
      answers('8', '7', 9),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(told, { minLength: told.length }), (shuffled) => {
        expect(sortConversation(shuffled).map(({ id }) => id)).toEqual([
          '1',
          '2',
          '3',
          '4',
          '5',
          '6',
          '7',
          '8',
        ]);
      }),
    );
  });
});
