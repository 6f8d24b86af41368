import { describe, expect, it } from 'vitest';
import { CardAnnouncer } from '../../../runtime/peers/card-announcer.ts';
import type { SignedCard } from '../../../runtime/peers/signed-card.ts';
import { CardNode, KeptBook, keptBook, MINUTE_MS } from '../../fixtures/peers/card-node.ts';
import { cardOf } from '../routing/standalone-team.ts';

/** A node that announces, and another that asks it. */
function announcing() {
  const here = keptBook();
  const { clock, keys, nodeId } = here.node;
  const run = (bootEpoch: number, book = here.book) =>
    new CardAnnouncer({ nodeId, bootEpoch, lifetimeMs: 10 * MINUTE_MS }, { keys, clock, book });
  return { here, clock, run, there: new KeptBook(new CardNode('there', clock)) };
}

describe('What a node announces of its agents (N-1.7)', () => {
  it('is taken by others, newer cards in place of older', () => {
    const { here, there, run } = announcing();
    const announcer = run(1);
    announcer.announce(cardOf('writer'));
    there.ask(here);
    announcer.announce(cardOf('writer', { name: 'new' }));
    there.ask(here);
    expect(there.book.find('here/writer').map(({ card }) => card.name)).toEqual(['new']);
    expect(there.refused).toEqual([]);
  });

  it('is nothing when the card is as it was', () => {
    const { here, run } = announcing();
    const announcer = run(1);
    const signed = announcer.announce(cardOf('writer'));
    expect(announcer.announce(cardOf('writer'))).toBeUndefined();
    expect(here.held()).toEqual([signed]);
  });

  it('is valid as long as it is renewed: no sooner than when half of its time is over', () => {
    const { here, there, clock, run } = announcing();
    const announcer = run(1);
    announcer.announce(cardOf('writer'));
    there.ask(here);
    clock.advance(5 * MINUTE_MS - 1);
    expect(announcer.renew()).toEqual([]);
    clock.advance(1);
    expect(announcer.renew()).toHaveLength(1);
    expect(announcer.renew()).toEqual([]);
    there.ask(here);
    clock.advance(10 * MINUTE_MS - 1);
    expect(there.found('writer')).toEqual(['here/writer']);
    expect(there.changes.map(({ type }) => type)).toEqual(['card.taken', 'card.renewed']);
    clock.advance(1);
    expect(there.found('writer')).toEqual([]);
    announcer.renew();
    there.ask(here);
    expect(there.found('writer')).toEqual(['here/writer']);
  });

  it('is renewed though the clock was set back', () => {
    const { here, there, clock, run } = announcing();
    const announcer = run(1);
    announcer.announce(cardOf('writer'));
    clock.jump(-MINUTE_MS);
    const changed = announcer.announce(cardOf('writer', { name: 'new' })) as SignedCard;
    there.ask(here);
    expect(there.held()).toEqual([changed]);
  });

  it('is withdrawn everywhere, and may come again', () => {
    const { here, there, clock, run } = announcing();
    const announcer = run(1);
    announcer.announce(cardOf('writer'));
    there.ask(here);
    expect(announcer.withdraw('nobody')).toBeUndefined();
    expect(announcer.withdraw('writer')?.card).toBeUndefined();
    expect(announcer.withdraw('writer')).toBeUndefined();
    there.ask(here);
    expect(there.found('writer')).toEqual([]);
    clock.advance(20 * MINUTE_MS);
    expect(announcer.renew()).toEqual([]);
    announcer.announce(cardOf('writer'));
    there.ask(here);
    expect(there.found('writer')).toEqual(['here/writer']);
  });

  it('is of the new run alone when the node has started again', () => {
    const { here, there, run, clock } = announcing();
    const former = run(1);
    for (const id of ['writer', 'reader']) former.announce(cardOf(id));
    there.ask(here);
    const again = new KeptBook(new CardNode('here', clock, here.node.keys));
    run(2, again.book).announce(cardOf('writer'));
    there.ask(again);
    expect([there.found('writer'), there.found('reader')]).toEqual([['here/writer'], []]);
    expect(again.ask(there)).toBe(0);
  });

  it('is nothing that its book does not take', () => {
    const { here, clock, run } = announcing();
    run(2).announce(cardOf('writer'));
    const former = run(1);
    expect(() => former.announce(cardOf('reader'))).toThrow('It is of boot epoch 1, and "here" runs in 2');
    clock.advance(10 * MINUTE_MS);
    expect(former.renew()).toEqual([]);
    expect(here.held()).toEqual([]);
  });

  it.each([
    [{ nodeId: 'a/b' }, 'announcer.nodeId is "a/b"'],
    [{ bootEpoch: -1 }, 'announcer.bootEpoch is -1'],
    [{ lifetimeMs: 0 }, 'announcer.lifetimeMs is 0'],
  ])('is nothing under the options %j', (options, fault) => {
    const { here, clock } = announcing();
    const { keys, nodeId } = here.node;
    const make = () =>
      new CardAnnouncer({ nodeId, bootEpoch: 1, ...options }, { keys, clock, book: here.book });
    expect(make).toThrow(fault);
  });
});
