import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InProcessHub } from '../../actors/shared-state/in-process-hub.ts';
import { syncEnvelope, syncMessageOf } from '../../actors/shared-state/sync-envelope.ts';
import { CRDTSyncMessage } from '../../runtime/protocol/crdt-sync-message.ts';
import { deserializeEnvelope, serializeEnvelope } from '../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { CHANNEL, resigned, SyncTeam, turns } from '../unit/actors/shared-state/sync-team.ts';
import {
  arbCRDTSyncMessage,
  arbDocumentChange,
  change,
  contentOf,
  updatesOf,
} from './arbitraries/crdt-sync-message.ts';

const IDS = ['a', 'b', 'c'];

const arbTurns = () =>
  fc.array(fc.record({ who: fc.constantFrom(...IDS), what: arbDocumentChange() }), {
    minLength: 1,
    maxLength: 12,
  });

describe('A sync channel (N-P27, N-P28, N-9.1, N-9.2, N-9.3, N-9.4, N-D14)', () => {
  it('Feature: a2a-mcp-protocols, Property 27: CRDT update broadcast and apply round trip', async () => {
    await fc.assert(
      fc.asyncProperty(arbTurns(), fc.array(arbDocumentChange(), { maxLength: 4 }), async (said, given) => {
        const team = new SyncTeam({ hub: new InProcessHub() });
        const heard = new Map<string, CRDTSyncMessage[]>(IDS.map((id) => [id, []]));
        for (const id of IDS) {
          const channel = await team.open(id);
          channel.onUpdate((message) => heard.get(id)?.push(message));
        }
        for (const { who, what } of said) {
          change(team.at(who).document, what);
          await turns();
        }
        // Updates made elsewhere, and given to the channel.
        const updates = updatesOf(given);
        for (const update of updates) await team.at('a').broadcast(update, 'a');
        await turns();
        const [expected] = team.docs.map(contentOf);
        for (const doc of team.docs) expect(contentOf(doc)).toEqual(expected);
        const sent = new Map(IDS.map((id) => [id, team.at(id).counts().sent]));
        for (const id of IDS) {
          const messages = heard.get(id) ?? [];
          for (const other of IDS) {
            const from = messages.filter(({ sourceAgentId }) => sourceAgentId === other);
            expect(from).toHaveLength(other === id ? 0 : (sent.get(other) ?? 0));
            expect(from.map(({ vectorClock }) => vectorClock[other])).toEqual(from.map((_, at) => at + 1));
          }
          for (const message of messages) {
            expect(CRDTSyncMessage.parse(message)).toEqual(message);
            expect(Object.keys(message.vectorClock)).not.toHaveLength(0);
          }
          expect(team.at(id).getVectorClock()).toEqual(Object.fromEntries(sent));
        }
        expect(sent.get('a')).toBeGreaterThanOrEqual(updates.length);
        await team.close();
      }),
      { numRuns: 100 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 28: CRDT concurrent update confluence', async () => {
    await fc.assert(
      fc.asyncProperty(arbTurns(), fc.integer(), fc.integer(), async (said, one, other) => {
        const results = [];
        for (const seed of [one, other]) {
          const random = seededRandom(seed);
          const team = await SyncTeam.of(IDS);
          for (const { who, what } of said) {
            change(team.at(who).document, what);
            // Concurrent: nothing has arrived when the others make their changes.
            await turns(3);
          }
          await team.hub.deliverBadly(random, { repeat: 0.2 });
          results.push(...team.docs.map(contentOf));
          for (const id of IDS) expect(team.at(id).counts()).toMatchObject({ states: id === 'a' ? 0 : 1 });
          await team.close();
        }
        for (const result of results) expect(result).toEqual(results[0]);
      }),
      { numRuns: 100 },
    );
  });

  it('converges when messages are lost, repeated and reordered, once time passes', async () => {
    await fc.assert(
      fc.asyncProperty(arbTurns(), fc.integer(), async (said, seed) => {
        const random = seededRandom(seed);
        const team = await SyncTeam.of(IDS);
        for (const { who, what } of said) {
          change(team.at(who).document, what);
          if (random() < 0.5) await team.hub.deliverBadly(random, { loss: 0.4, repeat: 0.3 });
        }
        await team.hub.deliverBadly(random, { loss: 0.4, repeat: 0.3 });
        // A sign of life shows what is missing, which is asked for after a while.
        await team.pass(25_000);
        const [expected] = team.docs.map(contentOf);
        for (const doc of team.docs) expect(contentOf(doc)).toEqual(expected);
        for (const id of IDS) expect(team.at(id).getVectorClock()).toEqual(team.at('a').getVectorClock());
        for (const id of IDS) expect(team.at(id).counts().waiting).toEqual({ messages: 0, bytes: 0 });
        await team.close();
      }),
      { numRuns: 100 },
    );
  });

  it('delivers every update after all that its source had applied', async () => {
    await fc.assert(
      fc.asyncProperty(arbTurns(), fc.integer(), async (said, seed) => {
        const random = seededRandom(seed);
        const team = await SyncTeam.of(IDS);
        const heard: Record<string, number>[] = [];
        team.at('c').onUpdate(({ vectorClock }) => heard.push(vectorClock));
        for (const { who, what } of said) {
          change(team.at(who === 'c' ? 'a' : who).document, what);
          // What is for `c` waits, so that the others' talk comes to it in any order.
          const forC = team.hub.held.filter(({ to }) => to === 'c');
          team.hub.held = team.hub.held.filter(({ to }) => to !== 'c');
          await team.hub.deliverAll();
          team.hub.held = forC;
        }
        await team.hub.deliverBadly(random);
        const applied: Record<string, number> = { a: 0, b: 0 };
        for (const clock of heard) {
          const source = ['a', 'b'].filter((id) => clock[id] === (applied[id] ?? 0) + 1);
          expect(source).toHaveLength(1);
          applied[source[0] as string] = (applied[source[0] as string] ?? 0) + 1;
          for (const id of ['a', 'b']) expect(clock[id] ?? 0).toBeLessThanOrEqual(applied[id] ?? 0);
        }
        expect(team.refusals('c')).toEqual([]);
        expect(contentOf(team.at('c').document)).toEqual(contentOf(team.at('a').document));
        await team.close();
      }),
      { numRuns: 100 },
    );
  });

  it('is the same after the way through a stream-data envelope (N-D14, N-T02)', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'x' });
    await turns();
    const [template] = team.hub.take('b', 'update');
    if (template === undefined) throw new Error('nothing was sent');
    const factory = new EnvelopeFactory({
      seams: { clock: new FakeClock(), newId: () => 'e-1' },
      cardOf: () => ({ tier: 1 }),
    });
    fc.assert(
      fc.property(arbCRDTSyncMessage(), ({ vectorClock, payload, timestamp, operationId = 'op' }) => {
        const message = resigned(template, {
          vectorClock: Object.fromEntries([...Object.entries(vectorClock), ['a', 1]]),
          payload: payload as Uint8Array,
          timestamp,
          operationId: operationId.slice(0, 200),
        });
        const envelope = deserializeEnvelope(serializeEnvelope(syncEnvelope(message, 'b', factory)));
        expect(envelope).toMatchObject({
          type: 'stream-data',
          sender: 'a',
          recipient: 'b',
          correlationId: CHANNEL,
        });
        expect(CRDTSyncMessage.safeParse(envelope.payload).success).toBe(true);
        expect(syncMessageOf(envelope)).toEqual(message);
      }),
      { numRuns: 200 },
    );
    await team.close();
  });
});
