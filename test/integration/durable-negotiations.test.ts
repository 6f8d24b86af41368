import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem, type TaskProposal, type Team } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bidAndLeave, bids, letGo, take } from '../fixtures/agents/bidding.ts';
import { balanced, knownBy, knows, modulesOf, placeOf, proposalOf } from '../fixtures/bidders.ts';
import { rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/negotiating-host.ts', import.meta.url));

let folder: string;
let path: string;
const running: Team[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-negotiations-'));
  path = join(folder, 'journal.db');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((system) => system.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function teamOf(...profiles: Parameters<typeof modulesOf>[0]): Promise<Team> {
  const system = await startSystem({ journal: { path }, agents: modulesOf(profiles) });
  running.push(system);
  return system;
}

/** What the embedder of a process had proposed when that was killed. */
async function leftBy(stage: 'open' | 'taken'): Promise<TaskProposal> {
  const words = [...CONDITIONS, HOST, path, stage];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!printed.includes('\n')) {
    const [code] = await Promise.race([once(child.stdout, 'data'), gone]);
    if (child.exitCode !== null) throw new Error(`It ended with ${code}: ${printed}`);
  }
  child.kill('SIGKILL');
  await gone;
  return JSON.parse(printed) as TaskProposal;
}

const mars = { id: 'mars', says: 'leaves', durable: true } as const;
const sun = { id: 'sun', offers: [], durable: true };

/** Has the durable agent `sun` propose, and leave it. Resolves with what it knows when mars considers it. */
async function leftOpen(system: Team, escalationJustification?: string): Promise<TaskProposal> {
  const { estimatedComplexity: _simple, ...input } = proposalOf({ deadlineMs: 60_000 });
  const correlationId = 'left';
  const why = escalationJustification === undefined ? {} : { escalationJustification };
  const proposal = { ...input, ...why, leaseMs: 60_000 };
  await system.ask({ agent: 'sun', capability: bidAndLeave }, proposal, { correlationId });
  const asked = await until('mars was asked', async () =>
    (await system.thread(correlationId)).find(({ type }) => type === 'task-proposal'),
  );
  const { proposalId } = asked.payload as { proposalId: string };
  await until(
    'mars considers it',
    async () => (await knownBy(system, 'mars', proposalId)).considered.length > 0,
  );
  return (await knownBy(system, 'sun', proposalId)).proposal as TaskProposal;
}

/** Ends the thread of an agent, and waits until its next one answers. */
async function endThreadOf(system: Team, id: string): Promise<void> {
  const restarts = async () => (await system.roster()).find((row) => row.id === id)?.restarts ?? 0;
  const before = await restarts();
  await system.terminate(await placeOf(system, id));
  await until(`${id} is there again`, async () => (await restarts()) > before);
}

describe('Negotiations of a process that was killed (F-02, N-7.4)', () => {
  it('are open for the time that they had left, and can be accepted', async () => {
    const left = await leftBy('open');
    expect(left).toMatchObject({ status: 'pending', deadlineMs: 60_000 });
    const system = await teamOf(mars);
    const { proposalId } = left;
    expect(system.negotiator.getProposal(proposalId)).toEqual(left);
    const { proposal } = await knownBy(system, 'mars', proposalId);
    const { proposedAtMs = 0, deadlineMs = 0, status } = proposal ?? {};
    expect(status).toBe('pending');
    // Its own deadline is that of the proposal, which had been under way.
    expect(proposedAtMs + deadlineMs).toBe(left.proposedAtMs + left.deadlineMs);
    await until('mars considers it again', async () => {
      const { considered } = await knownBy(system, 'mars', proposalId);
      return considered.length > 0;
    });
    await balanced(system);
    expect((await knownBy(system, 'mars', proposalId)).considered).toHaveLength(1);
    await system.ask({ agent: 'mars', capability: take }, { proposalId });
    await until('it is accepted', () => system.negotiator.getProposal(proposalId)?.status === 'accepted');
    expect(system.negotiator.getProposal(proposalId)).toMatchObject({
      acceptedBy: 'mars',
      isHeld: true,
      proposedAtMs: left.proposedAtMs,
      deadlineMs: 60_000,
    });
    const outcome = system.negotiator.getProposal(proposalId);
    await system.stop();
    const again = await teamOf(mars);
    expect(again.negotiator.getProposal(proposalId)).toEqual(outcome);
  });

  it('that were accepted are so, and end by the word of either side', async () => {
    const left = await leftBy('taken');
    expect(left).toMatchObject({ status: 'accepted', isHeld: true, acceptedBy: 'mars' });
    const system = await teamOf(mars);
    const { proposalId } = left;
    expect(system.negotiator.getProposal(proposalId)).toEqual(left);
    expect((await knownBy(system, 'mars', proposalId)).proposal).toMatchObject({ isHeld: true, epoch: 1 });
    await system.ask({ agent: 'mars', capability: letGo }, { proposalId });
    await until('it is given back', () => system.negotiator.getProposal(proposalId)?.isHeld === false);
    expect(system.negotiator.getProposal(proposalId)).toMatchObject({
      status: 'accepted',
      rejectionReason: 'COMPLETED',
    });
  });

  it('come back from a holder that is not durable and knows nothing of them', async () => {
    const left = await leftBy('taken');
    const system = await teamOf({ id: 'mars', says: 'leaves' });
    const { proposalId } = left;
    await until('it has come back', () => system.negotiator.getProposal(proposalId)?.isHeld === false);
    expect(system.negotiator.getProposal(proposalId)).toMatchObject({
      status: 'accepted',
      rejectionReason: 'NOT_HELD',
    });
  });

  it('end with an agent that is not in the team any more', async () => {
    const left = await leftBy('open');
    const system = await teamOf({ id: 'venus', says: 'leaves' });
    const { proposalId } = left;
    await until('it is over', () => system.negotiator.getProposal(proposalId)?.status !== 'pending');
    expect(system.negotiator.getProposal(proposalId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'AGENT_NOT_FOUND',
    });
  });
});

describe('Negotiations of a system that was stopped (F-02)', () => {
  it('go on in the next; whoever waited for one gets SYSTEM_STOPPED', async () => {
    const first = await teamOf(mars);
    const proposed = rejection(first.negotiator.propose(proposalOf({ deadlineMs: 60_000 })));
    const [{ proposalId } = { proposalId: '' }] = await until('it is proposed', () => {
      const pending = first.negotiator.listPending();
      return pending.length > 0 && pending;
    });
    const before = first.negotiator.getProposal(proposalId);
    await first.stop();
    expect((await proposed).code).toBe('SYSTEM_STOPPED');
    const second = await teamOf(mars);
    expect(second.negotiator.getProposal(proposalId)).toEqual(before);
    await until('mars considers it', async () => {
      const { considered } = await knownBy(second, 'mars', proposalId);
      return considered.length > 0;
    });
    await second.ask({ agent: 'mars', capability: take }, { proposalId });
    await until('it is accepted', () => second.negotiator.getProposal(proposalId)?.status === 'accepted');
  });
});

describe('Negotiations of a thread that ends (F-02, F-07)', () => {
  it('go on where it was that of an agent that was asked', async () => {
    const system = await teamOf(mars, sun);
    const { proposalId, proposedAtMs, deadlineMs } = await leftOpen(system);
    const before = (await knownBy(system, 'mars', proposalId)).proposal;
    await endThreadOf(system, 'mars');
    expect((await knownBy(system, 'mars', proposalId)).proposal).toEqual(before);
    await system.ask({ agent: 'mars', capability: take }, { proposalId });
    await knows(system, 'sun', proposalId, { status: 'accepted', acceptedBy: 'mars', isHeld: true });
    await endThreadOf(system, 'mars');
    expect((await knownBy(system, 'mars', proposalId)).proposal).toMatchObject({ isHeld: true });
    await system.ask({ agent: 'mars', capability: letGo }, { proposalId });
    await knows(system, 'sun', proposalId, {
      isHeld: false,
      rejectionReason: 'COMPLETED',
      proposedAtMs,
      deadlineMs,
    });
  });

  it('go on where it was that of the proposer', async () => {
    const system = await teamOf(mars, sun);
    const before = await leftOpen(system);
    const { proposalId } = before;
    await endThreadOf(system, 'sun');
    expect((await knownBy(system, 'sun', proposalId)).proposal).toEqual(before);
    await system.ask({ agent: 'mars', capability: take }, { proposalId });
    await knows(system, 'sun', proposalId, { status: 'accepted', acceptedBy: 'mars', isHeld: true });
    await endThreadOf(system, 'sun');
    await system.ask({ agent: 'sun', capability: letGo }, { proposalId });
    await knows(system, 'mars', proposalId, { isHeld: false, rejectionReason: 'COMPLETED' });
    await balanced(system);
    expect((await system.ask({ agent: 'mars', capability: bids }, { proposalId })).considered).toHaveLength(
      1,
    );
  });

  it('go on with the leave that an agent had to answer against the rules for tiers (C-06)', async () => {
    const system = await teamOf({ ...mars, tier: 1 }, { ...sun, tier: 2 });
    const { proposalId } = await leftOpen(system, 'It blocks the release');
    await endThreadOf(system, 'mars');
    await system.ask({ agent: 'mars', capability: take }, { proposalId });
    await knows(system, 'sun', proposalId, { status: 'accepted', acceptedBy: 'mars', isHeld: true });
    await endThreadOf(system, 'mars');
    await system.ask({ agent: 'mars', capability: letGo }, { proposalId });
    await knows(system, 'sun', proposalId, { isHeld: false, rejectionReason: 'COMPLETED' });
  });

  it('end with an actor that crashes, also of a durable agent', async () => {
    const fragile = { ...sun, offers: ['work.check'], says: 'throws' } as const;
    const system = await teamOf(mars, fragile);
    const { proposalId } = await leftOpen(system);
    const { rejectionReason } = await system.negotiator.propose(proposalOf(), { to: 'sun' });
    expect(rejectionReason).toBe('AGENT_ENDED');
    await knows(system, 'mars', proposalId, { status: 'rejected', rejectionReason: 'AGENT_ENDED' });
    await system.stop();
    const next = await teamOf(mars, fragile);
    expect((await knownBy(next, 'sun', proposalId)).proposal).toMatchObject({
      status: 'rejected',
      rejectionReason: 'AGENT_ENDED',
    });
  });
});
