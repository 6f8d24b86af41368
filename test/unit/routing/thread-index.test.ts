import { describe, expect, it } from 'vitest';
import { ThreadIndex } from '../../../runtime/routing/router.ts';
import { envelopeOf } from './standalone-team.ts';

const said = (id: string, timestamp: number, correlationId?: string) =>
  envelopeOf({
    id,
    sender: 'mars',
    recipient: 'venus',
    timestamp,
    ...(correlationId === undefined ? {} : { correlationId }),
  });

describe('ThreadIndex (N-2.4)', () => {
  it('gives a conversation in timestamp order, equal times in the order of sending', () => {
    const index = new ThreadIndex();
    for (const envelope of [said('c', 3, 't'), said('a', 1, 't'), said('x', 2, 'other'), said('b', 1, 't')]) {
      index.record(envelope);
    }
    index.record(said('alone', 1));
    expect(index.find('t').map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(index.find('nothing')).toEqual([]);
  });

  it('remembers the last envelopes alone', () => {
    const index = new ThreadIndex(2);
    for (const id of ['a', 'b', 'c']) index.record(said(id, 1, 't'));
    expect(index.find('t').map(({ id }) => id)).toEqual(['b', 'c']);
  });
});
