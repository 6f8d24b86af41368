import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { JournalledUpdateLog } from '../../actors/shared-state/journalled-update-log.ts';
import { MemoryMedium, MemoryStore } from '../../runtime/journal/memory-store.ts';
import { AgentJournal } from '../fixtures/agent-journal.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { type HeldHub, SyncTeam, turns } from '../unit/actors/shared-state/sync-team.ts';
import { arbDocumentChange, change, contentOf } from './arbitraries/crdt-sync-message.ts';

const IDS = ['a', 'b', 'c'];
const NAME = 'plan';

/** One member's processes, one after the other, on one journal whose writes can be held. */
class KeptMember {
  readonly id: string;
  readonly #team: SyncTeam<HeldHub>;
  readonly #medium = new MemoryMedium();
  #store: MemoryStore | undefined;
  #journal: AgentJournal | undefined;
  #isHeld = false;
  #write: PromiseWithResolvers<void> | undefined;
  /** Yjs client ids that it has written under. */
  readonly clientIds = new Set<number>();
  /** Notes of its own that it was told are kept. */
  readonly acknowledged: string[] = [];
  notes = 0;

  constructor(id: string, team: SyncTeam<HeldHub>) {
    this.id = id;
    this.#team = team;
  }

  get isDown(): boolean {
    return this.#journal === undefined;
  }

  get document(): Y.Doc | undefined {
    return this.#team.channels.get(this.id)?.document;
  }

  /** Begins a process; whoever delivers and waits sees it open. */
  async start(): Promise<void> {
    if (!this.isDown) return;
    this.#store = new MemoryStore({ medium: this.#medium, beforeWrite: () => this.#held() });
    this.#journal = new AgentJournal(this.#store);
    const log = new JournalledUpdateLog(await this.#journal.recordsOf(this.id), NAME);
    void this.#team.opening(this.id, { log }).then(({ document }) => this.clientIds.add(document.clientID));
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Lets one write happen, or all from here on if none is asked for. */
  letGo(): void {
    this.#isHeld = this.#write !== undefined;
    this.#write?.resolve();
    this.#write = undefined;
  }

  letAllGo(): void {
    this.#write?.resolve();
    this.#write = undefined;
    this.#isHeld = false;
  }

  /** Notes something that nobody ever removes. */
  note(): void {
    const channel = this.#team.channels.get(this.id);
    if (channel === undefined) return;
    const note = `${this.id}${this.notes++}`;
    channel.document.getMap('notes').set(note, true);
    void channel.whenKept().then(() => this.acknowledged.push(note));
  }

  /** The process is killed; what was being written is lost, or it `survives` and nobody was told. */
  async crash(survives: boolean): Promise<void> {
    if (this.isDown) return;
    this.#journal?.end();
    this.#store?.crash({ survives });
    this.#journal = undefined;
    this.letAllGo();
    await this.#team.crash(this.id);
    await turns();
  }

  /** What its journal holds. */
  async kept(): Promise<Y.Doc> {
    const store = new MemoryStore({ medium: structuredMedium(this.#medium) });
    const log = new JournalledUpdateLog(await new AgentJournal(store).recordsOf(this.id), NAME);
    const { snapshot, updates, unreadable } = await log.load();
    expect(unreadable).toEqual([]);
    const doc = new Y.Doc();
    for (const update of snapshot === undefined ? updates : [snapshot.state, ...updates])
      Y.applyUpdate(doc, update);
    expect([doc.store.pendingStructs, doc.store.pendingDs]).toEqual([null, null]);
    return doc;
  }

  #held(): Promise<void> | undefined {
    if (this.#isHeld) this.#write = Promise.withResolvers();
    return this.#write?.promise;
  }

  get records(): number {
    return this.#medium.records.get('agent')?.size ?? 0;
  }
}

/** A copy, that can be read while the other is open. */
function structuredMedium({ mails, records, nextMail }: MemoryMedium): MemoryMedium {
  return Object.assign(new MemoryMedium(), structuredClone({ mails, records, nextMail }));
}

const arbAction = () => {
  const who = fc.constantFrom(...IDS);
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ act: fc.constant('change' as const), who, what: arbDocumentChange() }),
    },
    { weight: 5, arbitrary: fc.record({ act: fc.constantFrom('note' as const), who }) },
    { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('hold' as const, 'let-go' as const), who }) },
    { weight: 3, arbitrary: fc.record({ act: fc.constant('crash' as const), who, survives: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ act: fc.constant('start' as const), who }) },
    { weight: 4, arbitrary: fc.record({ act: fc.constant('deliver' as const), seed: fc.integer() }) },
    {
      weight: 2,
      arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(1, 600, 5_000) }),
    },
  );
};

const LIMITS = { compactAfterUpdates: 4 };

describe('Documents in the journal (N-9.2, N-9.3, N-P28, F-01)', () => {
  it('converge, and lose nothing that was acknowledged, wherever processes end and begin again', async () => {
    let acknowledged = 0;
    let lives = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(arbAction(), { minLength: 10, maxLength: 60 }), async (actions) => {
        const team = await SyncTeam.of([], { limits: LIMITS });
        const members = new Map(IDS.map((id) => [id, new KeptMember(id, team)]));
        const of = (id: string): KeptMember => members.get(id) as KeptMember;
        for (const member of members.values()) {
          await member.start();
          await team.hub.deliverAll();
        }
        for (const action of actions) {
          switch (action.act) {
            case 'change': {
              const { document } = of(action.who);
              if (document !== undefined) change(document, action.what);
              break;
            }
            case 'note':
              of(action.who).note();
              break;
            case 'hold':
              of(action.who).hold();
              break;
            case 'let-go':
              of(action.who).letGo();
              break;
            case 'crash':
              await of(action.who).crash(action.survives);
              await expectNothingUndone(of(action.who), members);
              break;
            case 'start':
              if (of(action.who).isDown) lives += 1;
              await of(action.who).start();
              break;
            case 'deliver':
              await team.hub.deliverBadly(seededRandom(action.seed), { loss: 0.2, repeat: 0.2 });
              break;
            case 'pass':
              team.clock.advance(action.ms);
          }
          await turns();
        }
        for (const member of members.values()) {
          member.letAllGo();
          await turns(60);
          await member.start();
        }
        await team.pass(40_000);
        const [expected] = team.docs.map(contentOf);
        expect(team.docs).toHaveLength(IDS.length);
        for (const doc of team.docs) expect(contentOf(doc)).toEqual(expected);
        for (const id of IDS) {
          expect(team.at(id).getVectorClock()).toEqual(team.at('a').getVectorClock());
          await team.at(id).whenKept();
          const kept = await of(id).kept();
          // The journal is enough.
          expect(Object.fromEntries(kept.getMap('notes').entries())).toEqual(
            Object.fromEntries(team.at(id).document.getMap('notes').entries()),
          );
          for (const note of of(id).acknowledged)
            for (const doc of [...team.docs, kept]) expect(doc.getMap('notes').has(note), note).toBe(true);
          acknowledged += of(id).acknowledged.length;
          // A snapshot, the updates up to the next one, and those that came while it was written.
          expect(of(id).records).toBeLessThan(60);
        }
        await team.close();
      }),
      { numRuns: 250 },
    );
    expect(acknowledged).toBeGreaterThan(300);
    expect(lives).toBeGreaterThan(100);
  }, 120_000);
});

/** Nobody knows of a change of the member that its journal has not. */
async function expectNothingUndone(
  member: KeptMember,
  members: ReadonlyMap<string, KeptMember>,
): Promise<void> {
  const kept = await member.kept();
  for (const { document } of members.values()) {
    if (document === undefined) continue;
    for (const clientId of member.clientIds)
      expect(Y.getState(kept.store, clientId)).toBeGreaterThanOrEqual(Y.getState(document.store, clientId));
  }
  for (const note of member.acknowledged) expect(kept.getMap('notes').has(note), note).toBe(true);
}
