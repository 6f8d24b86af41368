import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CARD_REFUSALS } from '../../runtime/peers/card-refusal.ts';
import { CardAnswer, CardDigest } from '../../runtime/peers/card-digest.ts';
import { readSignedCard, type SignedCard } from '../../runtime/peers/signed-card.ts';
import { signingKeyPair } from '../../runtime/protocol/signing.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { CardNode, KeptBook, MINUTE_MS } from '../fixtures/peers/card-node.ts';
import { cardOf } from '../unit/routing/standalone-team.ts';
import { arbAgentCard } from './arbitraries/agent-card.ts';
import { arbDamaged, arbHostile } from './arbitraries/damage.ts';
import { withoutProto } from './arbitraries/json.ts';

const RUNS = 5_000;
const MAX_LIFETIME_MS = 60 * MINUTE_MS;
const NODES = ['alpha', 'beta', 'gamma'];
const AGENTS = ['writer', 'reader', 'judge'];
const KEYS = new Map(NODES.map((nodeId) => [nodeId, signingKeyPair()]));

/** What a node said once: that it has an agent, or no longer has it. */
interface Said {
  readonly nodeId: string;
  readonly agentId: string;
  readonly bootEpoch: number;
  readonly revision: number;
  readonly isWithdrawn: boolean;
  readonly name: string;
}

const arbSaid = (): fc.Arbitrary<Said> =>
  fc.record({
    nodeId: fc.constantFrom(...NODES),
    agentId: fc.constantFrom(...AGENTS),
    bootEpoch: fc.integer({ min: 0, max: 2 }),
    revision: fc.integer({ min: 0, max: 3 }),
    isWithdrawn: fc.boolean(),
    name: fc.constantFrom('one', 'other'),
  });

const nodeOf = (nodeId: string, clock: FakeClock): CardNode => new CardNode(nodeId, clock, KEYS.get(nodeId));

function signedBy(clock: FakeClock, { nodeId, agentId, isWithdrawn, name, ...terms }: Said): SignedCard {
  const node = nodeOf(nodeId, clock);
  return isWithdrawn ? node.withdrawn(agentId, terms) : node.signed(cardOf(agentId, { name }), terms);
}

const bookOf = (nodeId: string, clock: FakeClock): KeptBook =>
  new KeptBook(new CardNode(nodeId, clock), {
    pageCards: 2,
    verificationBurst: 1_000_000,
    maxLifetimeMs: MAX_LIFETIME_MS,
  });

/** Grows with the version, where no node says more than a thousand things. */
const rank = ({ bootEpoch, revision }: SignedCard): number => bootEpoch * 1_000 + revision;

/** What should be there after all of these, told without a book. */
function newestOf(all: readonly SignedCard[]): SignedCard[] {
  const isNewer = (one: SignedCard, other: SignedCard): boolean =>
    rank(one) > rank(other) || (rank(one) === rank(other) && one.signature > other.signature);
  return all
    .filter((card) =>
      all.every(({ nodeId, bootEpoch }) => nodeId !== card.nodeId || bootEpoch <= card.bootEpoch),
    )
    .filter((card) =>
      all.every((one) => one.nodeId !== card.nodeId || one.agentId !== card.agentId || !isNewer(one, card)),
    )
    .filter((card, at, left) => left.findIndex(({ signature }) => signature === card.signature) === at)
    .sort((one, other) => (`${one.nodeId}/${one.agentId}` < `${other.nodeId}/${other.agentId}` ? -1 : 1));
}

describe('Cards that nodes sign (N-1.7, N-1.8, C-02)', () => {
  it('are read as they were, after any card has crossed (N-P05)', () => {
    const mars = new CardNode('mars', new FakeClock());
    const arbCard = withoutProto(arbAgentCard());
    fc.assert(
      fc.property(arbCard, (card) => {
        const read = readSignedCard(JSON.parse(JSON.stringify(mars.signed(card))));
        expect(read).toMatchObject({ card: JSON.parse(JSON.stringify(card)) as object });
      }),
      { numRuns: 300 },
    );
  });

  it('give the same book in any order, however often they come', () => {
    fc.assert(
      fc.property(
        fc.array(arbSaid(), { minLength: 1, maxLength: 14 }).chain((said) =>
          fc.tuple(
            fc.constant(said),
            fc.array(fc.nat(said.length - 1), { maxLength: 20 }),
            fc.shuffledSubarray(
              said.map((_, at) => at),
              { minLength: said.length },
            ),
          ),
        ),
        ([said, before, order]) => {
          const clock = new FakeClock();
          const all = said.map((one) => signedBy(clock, one));
          const book = bookOf('here', clock);
          book.take(...[...before, ...order].map((at) => all[at] as SignedCard));
          expect(book.held()).toEqual(newestOf(all));
          const shown = newestOf(all).filter(({ card }) => card !== undefined);
          expect(AGENTS.flatMap((id) => book.found(id)).sort()).toEqual(
            shown.map(({ nodeId, agentId }) => `${nodeId}/${agentId}`).sort(),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are the same in all books that gossip in pairs, whoever heard what first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), arbSaid()), { minLength: 1, maxLength: 16 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8 }),
        (heard, meetings) => {
          const clock = new FakeClock();
          const books = ['a', 'b', 'c', 'd'].map((nodeId) => bookOf(nodeId, clock));
          const all = heard.map(([at, said]) => {
            const card = signedBy(clock, said);
            books[at]?.take(card);
            return card;
          });
          for (const [one, other] of meetings) if (one !== other) books[one]?.ask(books[other] as KeptBook);
          // A ring, twice round: what any has, all have.
          for (const at of [0, 1, 2, 3, 0, 1, 2, 3]) books[(at + 1) % 4]?.ask(books[at] as KeptBook);
          for (const book of books) expect(book.held()).toEqual(newestOf(all));
          for (const one of books) for (const other of books) expect(one.ask(other)).toBe(0);
          expect(new Set(books.map(({ book }) => book.fingerprint())).size).toBe(1);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are never shown or handed on after they have expired, and no older one comes back after a newer', () => {
    const arbStep = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          nodeId: fc.constantFrom(...NODES),
          agentId: fc.constantFrom(...AGENTS),
          isWithdrawn: fc.boolean(),
          isHeard: fc.boolean(),
          lifetimeMs: fc.integer({ min: 1, max: MAX_LIFETIME_MS }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ restarted: fc.constantFrom(...NODES) }) },
      { weight: 3, arbitrary: fc.record({ again: fc.nat(40) }) },
      { weight: 2, arbitrary: fc.record({ passMs: fc.integer({ min: 1, max: MAX_LIFETIME_MS / 2 }) }) },
    );
    let replaysTaken = 0;
    fc.assert(
      fc.property(fc.array(arbStep, { maxLength: 60, size: 'max' }), (steps) => {
        const clock = new FakeClock();
        const book = bookOf('here', clock);
        const past: SignedCard[] = [];
        const epochs = new Map<string, number>();
        const newest = new Map<string, number>();
        const latest = new Map<string, number>();
        const hear = (card: SignedCard): boolean => {
          if (book.take(card)[0] !== 'TAKEN') return false;
          const name = `${card.nodeId}/${card.agentId}`;
          expect(rank(card)).toBeGreaterThan(newest.get(name) ?? -1);
          expect(card.bootEpoch).toBeGreaterThanOrEqual(latest.get(card.nodeId) ?? 0);
          newest.set(name, rank(card));
          latest.set(card.nodeId, card.bootEpoch);
          return true;
        };
        for (const step of steps) {
          if ('passMs' in step) clock.advance(step.passMs);
          else if ('restarted' in step) epochs.set(step.restarted, (epochs.get(step.restarted) ?? 0) + 1);
          else if ('again' in step)
            replaysTaken += past.slice(step.again, step.again + 1).filter(hear).length;
          else {
            const { nodeId, agentId, isWithdrawn, isHeard, lifetimeMs } = step;
            const node = nodeOf(nodeId, clock);
            const expiresAtMs = clock.now() + lifetimeMs;
            const terms = { bootEpoch: epochs.get(nodeId) ?? 0, revision: past.length, expiresAtMs };
            const card = isWithdrawn ? node.withdrawn(agentId, terms) : node.signed(agentId, terms);
            past.push(card);
            if (isHeard) expect(hear(card)).toBe(true);
          }
          for (const card of book.held()) {
            expect(card.expiresAtMs).toBeGreaterThan(clock.now());
            expect(rank(card)).toBe(newest.get(`${card.nodeId}/${card.agentId}`));
          }
          for (const { expiresAtMs } of AGENTS.flatMap((id) => book.book.find(id)))
            expect(expiresAtMs).toBeGreaterThan(clock.now());
        }
        clock.advance(MAX_LIFETIME_MS);
        book.book.expire();
        expect([book.book.size, book.book.bytes, book.book.nodes()]).toEqual([0, 0, []]);
      }),
      { numRuns: 300 },
    );
    expect(replaysTaken).toBeGreaterThan(0);
  });
});

describe('Messages about cards that were changed on their way', () => {
  it('are taken or refused: 5,000 signed cards, none that its node has not signed', () => {
    const clock = new FakeClock();
    const node = nodeOf('alpha', clock);
    const signed = ['a', 'b', 'c'].map((id, revision) => node.signed(cardOf(id), { revision }));
    const texts = new Set(signed.map((card) => JSON.stringify(sorted(card))));
    const book = bookOf('here', clock);
    let taken = 0;
    fc.assert(
      fc.property(
        fc.oneof(arbDamaged(fc.constantFrom(...signed)), arbHostile(), fc.constantFrom(...signed)),
        (value) => {
          const refusal = book.book.take(value, 'peer');
          if (refusal === undefined) taken += 1;
          else {
            expect(CARD_REFUSALS).toContain(refusal.code);
            expect(refusal.reason.length).toBeLessThan(1_000);
          }
          for (const held of book.held()) expect(texts).toContain(JSON.stringify(sorted(held)));
        },
      ),
      { numRuns: RUNS },
    );
    expect(taken).toBe(3);
    expect(book.book.size).toBe(3);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('are answered or refused: 5,000 digests and answers', () => {
    const clock = new FakeClock();
    const book = bookOf('here', clock);
    book.take(...AGENTS.map((id) => nodeOf('alpha', clock).signed(id)));
    const digest = { after: 'a/a', ...book.book.digest(), through: 'z/z' };
    const answer = { ...book.book.missingFrom({ cards: [] }), through: 'z/z' };
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(arbDamaged(fc.constantFrom<object>(digest, answer)), arbHostile()), (value) => {
        const asked = CardDigest.safeParse(value);
        if (asked.success) {
          read += 1;
          const given = book.book.missingFrom(asked.data);
          expect(given.cards.length).toBeLessThanOrEqual(2);
          expect(CardAnswer.parse(given)).toEqual(given);
        }
        const answered = CardAnswer.safeParse(value);
        if (answered.success) for (const card of answered.data.cards) book.book.take(card, 'peer');
      }),
      { numRuns: RUNS },
    );
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(RUNS);
    expect(book.book.size).toBe(3);
  });
});

const sorted = (card: SignedCard) => Object.entries(card).sort();
