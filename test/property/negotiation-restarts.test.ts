import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProposalStatus, TaskProposal } from '../../actors/negotiator/proposal.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { KeptTexts, NegotiatorLives } from '../unit/actors/negotiator/negotiator-lives.ts';
import { arbLineEvent } from './arbitraries/line-event.ts';
import { FaultyLine } from './faulty-line.ts';

const MEMBERS = ['mars', 'venus', 'earth'];
const ALL = ['sun', ...MEMBERS];
const DEADLINE_MS = 5_000;

const arbEvent = () =>
  arbLineEvent({
    weight: 4,
    arbitrary: fc.record({ what: fc.constantFrom('restart', 'restart-all', 'sleep'), which: fc.nat(3) }),
  });

const arbDurable = () =>
  fc.record({ sun: fc.boolean(), mars: fc.boolean(), venus: fc.boolean(), earth: fc.boolean() });

/** The agents with one proposal, a line between them, and what of them outlives their negotiators. */
class World {
  readonly clock = new FakeClock();
  readonly line: FaultyLine;
  readonly agents: ReadonlyMap<string, NegotiatorLives>;
  readonly durable: Readonly<Record<string, boolean>>;
  /** Who has known that it has the task. */
  readonly knew = new Set<string>();
  /** How often each life was asked to decide: the agent's name and the number of the life. */
  readonly decided = new Map<string, number>();
  hasAccepted = false;
  proposalId = '';
  readonly #lives = new Map<string, number>();
  #ids = 0;
  #startedAtMs = 0;
  #lastStatus: ProposalStatus = 'pending';
  #lastHolder: string | undefined;

  constructor(durable: Readonly<Record<string, boolean>>) {
    this.durable = durable;
    this.line = new FaultyLine(
      this.clock,
      new Map<string, readonly string[]>([['sun', []], ...MEMBERS.map((id) => [id, ['work']] as const)]),
    );
    this.agents = new Map(ALL.map((id) => [id, this.#livesOf(id)]));
  }

  async begin(): Promise<void> {
    this.#startedAtMs = this.clock.now();
    void this.#current('sun')
      .propose(
        {
          taskDescription: '',
          requiredCapabilities: ['work'],
          estimatedComplexity: 'simple',
          deadlineMs: DEADLINE_MS,
        },
        { leaseMs: 3_000 },
      )
      .catch(() => undefined);
    await this.clock.advanceAsync(0);
    const [made] = this.#current('sun').listPending();
    this.proposalId = made?.proposalId ?? '';
  }

  async happen({ what, which }: { what: string; which: number }): Promise<void> {
    const { line, clock, proposalId } = this;
    const one = this.#current(MEMBERS[which % MEMBERS.length] as string);
    if (what === 'deliver') line.deliver(which, false);
    else if (what === 'repeat') line.deliver(which, true);
    else if (what === 'lose') line.lose(which);
    else if (what === 'wait') await clock.advanceAsync(which);
    else if (what === 'accept') {
      if (one.getProposal(proposalId) !== undefined) this.hasAccepted = true;
      one.accept(proposalId, 1_000).catch(() => undefined);
    } else if (what === 'decline') one.reject(proposalId, 'NO').catch(() => undefined);
    else if (what === 'release') await one.release(proposalId);
    else if (what === 'withdraw') await this.#current('sun').withdraw(proposalId);
    else if (what === 'release-own') await this.#current('sun').release(proposalId);
    else this.#restart(what === 'restart' ? [ALL[which % ALL.length] as string] : ALL, what, which);
    await clock.advanceAsync(0);
  }

  /** A restart changes nothing that a durable agent knows; time that passes meanwhile has passed. */
  #restart(ids: readonly string[], what: string, which: number): void {
    const before = new Map(ids.map((id) => [id, this.#known(id)]));
    if (what === 'sleep') this.clock.jump(which * 1_000);
    for (const id of ids) {
      this.#lives.set(id, (this.#lives.get(id) ?? 0) + 1);
      this.agents.get(id)?.restart();
      if (this.durable[id] !== true) expect(this.#known(id)).toBe(undefined);
      else if (what !== 'sleep') expect(this.#known(id)).toEqual(before.get(id));
    }
  }

  check(): void {
    const holders = MEMBERS.filter((id) => this.#known(id)?.isHeld === true);
    expect(holders.length).toBeLessThanOrEqual(1);
    expect([...this.decided.values()].every((times) => times === 1)).toBe(true);
    const proposal = this.#known('sun');
    if (proposal === undefined) return;
    const { status, acceptedBy, proposedAtMs, deadlineMs } = proposal;
    expect([proposedAtMs, deadlineMs]).toEqual([this.#startedAtMs, DEADLINE_MS]);
    if (this.#lastStatus !== 'pending')
      expect([status, acceptedBy]).toEqual([this.#lastStatus, this.#lastHolder]);
    this.#lastStatus = status;
    this.#lastHolder = acceptedBy;
    if (status === 'accepted') expect(this.knew).toContain(acceptedBy);
    if (status === 'accepted') for (const id of holders) expect(id).toBe(acceptedBy);
    if (status === 'timed-out') expect(holders).toEqual([]);
    const isTimeOver = this.clock.now() >= this.#startedAtMs + DEADLINE_MS;
    if (isTimeOver && !this.hasAccepted) expect(status).not.toBe('pending');
  }

  /** From here on everything arrives, or nothing does. */
  async end(isLost: boolean): Promise<ProposalStatus | 'forgotten'> {
    for (let turn = 0; turn < 60; turn++) {
      if (isLost) this.line.loseAll();
      while (this.line.underWay > 0) this.line.deliver(0, false);
      await this.clock.advanceAsync(2_000);
      this.check();
    }
    for (const id of ALL) {
      const known = this.#known(id);
      expect(known === undefined || (known.status !== 'pending' && !known.isHeld)).toBe(true);
    }
    expect(this.clock.pending).toBe(0);
    return this.#known('sun')?.status ?? 'forgotten';
  }

  #livesOf(agentId: string): NegotiatorLives {
    return new NegotiatorLives({
      port: this.line.portOf(agentId, () => `id-${++this.#ids}`),
      kept: this.durable[agentId] === true ? new KeptTexts() : undefined,
      decide: () => {
        const life = `${agentId} ${this.#lives.get(agentId)}`;
        this.decided.set(life, (this.decided.get(life) ?? 0) + 1);
        return undefined;
      },
      onEvent: ({ type }) => type === 'assigned' && this.knew.add(agentId),
    });
  }

  #current(id: string) {
    return (this.agents.get(id) as NegotiatorLives).current;
  }

  #known(id: string): TaskProposal | undefined {
    return this.#current(id).getProposal(this.proposalId);
  }
}

describe('Negotiators that end at any moment, over a line that loses, repeats and reorders (F-02, F-07, N-7.4)', () => {
  it('never come to two outcomes, change none by a restart, gain no time, and end', async () => {
    const ends = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbEvent(), { minLength: 5, maxLength: 60, size: 'max' }),
        arbDurable(),
        fc.boolean(),
        async (happening, durable, isLost) => {
          const world = new World(durable);
          await world.begin();
          for (const event of happening) {
            await world.happen(event);
            world.check();
          }
          const end = await world.end(isLost);
          ends.set(end, (ends.get(end) ?? 0) + 1);
        },
      ),
      { numRuns: 1_000 },
    );
    // The script is no good if everything ends alike.
    expect([...ends.keys()].sort()).toEqual(['accepted', 'forgotten', 'rejected', 'timed-out']);
  }, 120_000);
});
