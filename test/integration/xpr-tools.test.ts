import { startSystem, systemSeams, type Team } from 'orrery';
import { serve } from 'orrery/gateway';
import { openSystemTasks } from 'orrery/tasks';
import {
  A2AClient,
  chainRpc,
  xprA2ACancelTask,
  xprA2ADelegateJob,
  xprA2ADiscover,
  xprA2AGetTask,
  xprA2ASendMessage,
  xprBinding,
  xprTools,
  type XprToolsOptions,
} from 'orrery/xpr';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ALICES_KEY, BOBS_KEY } from '../fixtures/k1-keys.ts';
import { rejection, until } from '../fixtures/until.ts';
import { type XprTrial, xprTrial } from '../fixtures/xpr-gateway.ts';

/** Alice's systems have the tools; the other one, `myagent` on the chain, serves `mars`. */
let remote: XprTrial;
let shared: Team;
const systems: Team[] = [];
beforeAll(async () => {
  remote = await xprTrial({ account: 'myagent', answerWithinMs: 2_000 });
  const { node, served } = remote;
  node.agents.set('myagent', {
    account: 'myagent',
    owner: 'bob',
    name: 'My Agent',
    description: 'Says what it is told',
    endpoint: `${served.url}/`,
    protocol: 'https',
    capabilities: '["say"]',
    registered_at: remote.clock.now() / 1_000,
  });
  node.kycLevels.set('bob', 1);
  node.jobs.set('42', {
    client: 'alice',
    title: 'Market report',
    description: 'Numbers of the last quarter',
    deliverables: '["report.pdf","data.csv"]',
    amount: 1_000_000,
    deadline: 1_704_153_600,
  });
  shared = await start();
});
afterEach(async () => {
  for (const system of systems.splice(0)) await system.stop();
  // Whoever calls next has not called for a minute.
  remote.clock.advance(60_000);
});
afterAll(async () => {
  await shared.stop();
  await remote.close();
});

const everywhere = { allowHttp: true, allowPrivate: () => true };

async function start(options: Partial<XprToolsOptions> = {}): Promise<Team> {
  const { node, clock } = remote;
  const real = systemSeams().clock;
  const tools = xprTools({
    chain: chainRpc({ endpoint: node.endpoint }, systemSeams()),
    signing: { account: 'alice', key: ALICES_KEY },
    endpoints: everywhere,
    clock: { now: () => clock.now(), setTimer: real.setTimer.bind(real) },
    ...options,
  });
  return startSystem({ agents: [tools], workers: 1, spareThread: false });
}

async function open(options: Partial<XprToolsOptions> = {}): Promise<Team> {
  const system = await start(options);
  systems.push(system);
  return system;
}

const approvalIn = (part: unknown) =>
  (part as { data: { approvalRequired: { approvalId: string; details: object } } }).data;

const delegation = { account: 'myagent', job_id: 42, instructions: 'Only the summary' };

describe('XPR’s agent tools, between two systems', () => {
  it('find an agent: what the chain has of it, and its card (X-44)', async () => {
    const found = await shared.ask(xprA2ADiscover, { account: 'myagent' });
    expect(found.agent).toEqual({
      account: 'myagent',
      owner: 'bob',
      name: 'My Agent',
      description: 'Says what it is told',
      endpoint: `${remote.served.url}/`,
      protocol: 'https',
      capabilities: ['say'],
      kyc_level: 1,
      trust_score: 10,
      registered_at: 1_704_067_200,
    });
    expect(found.card).toMatchObject({ name: 'My Agent', 'xpr:account': 'myagent', 'xpr:trustScore': 10 });
  });

  it('send a message, signed, and go on with its task (X-45, X-31)', async () => {
    const system = shared;
    const task = await system.ask(xprA2ASendMessage, { account: 'myagent', text: 'hello', job_id: 42 });
    expect(task).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ type: 'text', text: 'mars: hello' }] }],
      metadata: { 'xpr:jobId': 42 },
    });
    const wrong = await rejection(
      system.ask(xprA2ASendMessage, { account: 'myagent', text: 'x', task_id: 'none' }),
    );
    expect(wrong).toMatchObject({ code: 'REFUSED', message: 'myagent: Task not found' });
  });

  it('say how a task stands, and cancel it (X-46, X-47)', async () => {
    const system = shared;
    const said = {
      role: 'user' as const,
      parts: [{ type: 'data' as const, data: { tool: 'echo.wait', arguments: 'x' } }],
    };
    const { id: task_id } = await remote.alice.sendMessage(said);
    await remote.waiting.begun;
    const of = { account: 'myagent', task_id };
    expect((await system.ask(xprA2AGetTask, of)).status.state).toBe('working');
    expect((await system.ask(xprA2ACancelTask, of)).status.state).toBe('canceled');
    await remote.waiting.cancelled;
    expect(await rejection(system.ask(xprA2ACancelTask, of))).toMatchObject({
      message: 'myagent: Task not cancelable',
    });
  });

  it('are declared as reading or changing something', () => {
    expect([xprA2ADiscover, xprA2AGetTask].map(({ readOnly }) => readOnly)).toEqual([true, true]);
    for (const { readOnly } of [xprA2ASendMessage, xprA2ACancelTask, xprA2ADelegateJob])
      expect(readOnly).toBe(false);
  });

  it('decline, naming the account, whom they cannot call; and nobody dies of it', async () => {
    const { node } = remote;
    const system = shared;
    const why = async (account: string): Promise<string> => {
      const { code, message } = await rejection(system.ask(xprA2ADiscover, { account }));
      expect(code).toBe('REFUSED');
      expect(message).toContain(account);
      return message;
    };
    expect(await why('nobody')).toContain('No agent is registered');
    node.agents.set('asleep', { account: 'asleep', active: false, endpoint: 'https://x.example' });
    expect(await why('asleep')).toContain('not active');
    node.agents.set('mute', { account: 'mute' });
    expect(await why('mute')).toContain('no endpoint');
    node.agents.set('gone', { account: 'gone', endpoint: 'http://127.0.0.1:1' });
    expect(await why('gone')).toContain('cannot be reached');
    node.mood = { text: '<html>' };
    expect((await rejection(system.ask(xprA2ADiscover, { account: 'myagent' }))).code).toBe('REFUSED');
    node.mood = 'well';
    expect((await system.ask(xprA2ADiscover, { account: 'myagent' })).agent.account).toBe('myagent');
    expect(await system.roster()).toMatchObject([{ id: 'xpr', restarts: 0 }]);
  });

  it('delegate a job when that is confirmed, as it stands in escrow (X-48)', async () => {
    const system = shared;
    const first = await system.ask(xprA2ADelegateJob, delegation);
    expect(first).toEqual({
      needs_confirmation: true,
      action: 'xpr_a2a_delegate_job',
      details: delegation,
      message: expect.stringContaining('job 42'),
    });
    expect(remote.node.asked.filter((one) => one.startsWith('jobs'))).toEqual([]);
    const done = await system.ask(xprA2ADelegateJob, { ...delegation, confirmed: true });
    expect(done).toMatchObject({ status: { state: 'completed' }, metadata: { 'xpr:jobId': 42 } });
    const [artifact] = (done as { artifacts: { parts: { text: string }[] }[] }).artifacts;
    for (const fact of [
      'Job 42: Market report',
      'Numbers of the last quarter',
      'report.pdf; data.csv',
      '100 XPR',
      '2024-01-02T00:00:00.000Z',
      'Only the summary',
    ])
      expect(artifact?.parts[0]?.text).toContain(fact);
    const none = { ...delegation, job_id: 43, confirmed: true };
    expect((await rejection(system.ask(xprA2ADelegateJob, none))).message).toContain('no job 43');
  });

  it('delegate a job at once where no confirmation is asked for (X-48)', async () => {
    const done = await (await open({ confirm: false })).ask(xprA2ADelegateJob, delegation);
    expect(done).toMatchObject({ status: { state: 'completed' } });
  });

  it('ask the system’s approver, whose word counts more than that it is confirmed (X-48, C-24)', async () => {
    const system = await open();
    const asked: unknown[] = [];
    let approves = false;
    const tasks = await openSystemTasks(system, {
      approver: (request, { agentId }) => {
        asked.push({ ...request, agentId });
        return { approved: approves, reason: 'not today' };
      },
    });
    const refused = await rejection(system.ask(xprA2ADelegateJob, { ...delegation, confirmed: true }));
    expect(refused).toMatchObject({ code: 'NOT_PERMITTED', message: expect.stringContaining('not today') });
    expect(asked).toEqual([
      { action: 'xpr_a2a_delegate_job', details: delegation, message: expect.any(String), agentId: 'xpr' },
    ]);
    approves = true;
    expect(await system.ask(xprA2ADelegateJob, delegation)).toMatchObject({ status: { state: 'completed' } });
    await tasks.close();
  });

  it('ask the owner of the task that the tool is used in (X-48, X-51, C-24)', async () => {
    const system = await open();
    const accounts = chainRpc({ endpoint: remote.node.endpoint }, systemSeams());
    await using served = await serve(system, { entry: 'xpr', bindings: [xprBinding({ accounts })] });
    const bob = new A2AClient(served.url, { callerAccount: 'bob', signingKey: BOBS_KEY });
    const call = { tool: 'xpr_a2a_delegate_job', arguments: { ...delegation, confirmed: true } };
    const asked = await bob.sendMessage({ role: 'user', parts: [{ type: 'data', data: call }] });
    expect(asked.status.state).toBe('input-required');
    const [, part] = asked.status.message?.parts ?? [];
    const { approvalRequired } = approvalIn(part);
    expect(approvalRequired.details).toEqual(delegation);
    const data = { approvalId: approvalRequired.approvalId, approved: true };
    await bob.sendMessage({ role: 'user', parts: [{ type: 'data', data }] }, { taskId: asked.id });
    const done = await until('the job is delegated', async () => {
      const task = await bob.getTask(asked.id);
      return task.status.state === 'completed' && task;
    });
    expect(JSON.stringify(done.artifacts)).toContain('mars: # Job 42: Market report');
  });

  it.each([
    ['signing.key', { signing: { account: 'alice', key: 'no key' } }, 'signingKey'],
    ['signing.account', { signing: { account: 'Alice', key: ALICES_KEY } }, 'callerAccount'],
  ])('are not made with a wrong %s', async (_, options, field) => {
    await expect(open(options)).rejects.toThrow(field);
  });
});
