import { describe, expect, it } from 'vitest';
import { until } from '../fixtures/until.ts';
import { call, post, refusal, sending, text, textOf, tool } from '../fixtures/xpr-calls.ts';
import { xprTrials } from '../fixtures/xpr-trials.ts';

const trials = xprTrials();

describe('The XPR binding, over a socket', () => {
  it('takes the seed’s request and gives the seed’s answer (X-06, X-25, X-26, X-30, X-31)', async () => {
    const trial = trials.usual;
    const { status, body } = await post(trial, {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: text('Analyze this dataset and produce a summary'),
        'xpr:callerAccount': 'alice',
        metadata: { 'xpr:jobId': 42 },
      },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      result: {
        status: { state: 'completed', timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
        artifacts: [
          {
            parts: [{ type: 'text', text: 'mars: Analyze this dataset and produce a summary' }],
            index: 0,
          },
        ],
        metadata: { 'xpr:jobId': 42 },
      },
    });
    const again = await post(trial, call('tasks/get', { id: body.result?.id }, 'two'));
    expect(again.body).toEqual({ jsonrpc: '2.0', id: 'two', result: body.result });
    expect(Object.keys(body.result ?? {}).sort()).toEqual([
      'artifacts',
      'contextId',
      'id',
      'metadata',
      'status',
    ]);
  });

  it('tells the agent which job it is about (X-54, X-31)', async () => {
    const trial = trials.usual;
    const jobIn = async (metadata: object): Promise<unknown> => {
      const { body } = await post(trial, call('message/send', { message: tool('job'), metadata }));
      return textOf(body.result as never);
    };
    expect(await jobIn({ 'xpr:jobId': 42 })).toBe('job 42');
    expect(await jobIn({ other: true })).toBe('job of nobody');
  });

  it('serves one agent by its name, and no agent that is not there', async () => {
    const trial = trials.usual;
    const { body } = await post(trial, sending('hi'), { path: '/mars/a2a' });
    expect(body.result?.status.state).toBe('completed');
    const nobody = await post(trial, sending('hi there'), { path: '/venus/a2a' });
    expect(nobody.body.error).toMatchObject({ code: -32_602, data: { reason: 'AGENT_NOT_FOUND' } });
  });

  it('asks back, and goes on with the task by its id (X-25, X-29, X-51)', async () => {
    const { alice } = trials.usual;
    const asked = await alice.sendMessage(tool('ask'));
    expect(asked.status.state).toBe('input-required');
    expect(asked.status.message?.parts[0]).toMatchObject({ text: 'Which colour?' });
    const done = await alice.sendMessage(text('red'), { taskId: asked.id });
    expect(done).toMatchObject({
      id: asked.id,
      contextId: asked.contextId,
      status: { state: 'completed' },
      artifacts: [{ parts: [{ type: 'data', data: { colour: 'red' } }] }],
    });
    expect((await refusal(alice.sendMessage(text('blue'), { taskId: asked.id }))).data).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('says in the status what failed, whether it was declined or broke (X-50)', async () => {
    const { alice } = trials.usual;
    const declined = await alice.sendMessage(tool('fail'));
    expect(declined.status.state).toBe('failed');
    expect(JSON.stringify(declined.status.message)).toContain('the disk is full');
    expect((await alice.sendMessage(tool('refuse'))).status.state).toBe('failed');
    expect((await alice.sendMessage(text('still here'))).status.state).toBe('completed');
  });

  it('has whoever owns the task approve what an agent must not do alone (X-51)', async () => {
    const { alice } = trials.usual;
    const asked = await alice.sendMessage(tool('approve', 'all'));
    expect(asked.status).toMatchObject({
      state: 'input-required',
      message: { parts: [{ text: 'Erase all?' }, {}] },
    });
    const [, part] = asked.status.message?.parts ?? [];
    const { approvalId } = (part as unknown as { data: { approvalRequired: { approvalId: string } } }).data
      .approvalRequired;
    const data = { approvalId, approved: true };
    const done = await alice.sendMessage(
      { role: 'user', parts: [{ type: 'data', data }] },
      { taskId: asked.id },
    );
    expect(textOf(done)).toBe('erased');
  });

  it('cancels what goes on, and what is over is not cancelable (X-27, X-29, X-40)', async () => {
    const { alice, waiting } = await trials.open({ answerWithinMs: 1 });
    const begun = await alice.sendMessage(tool('wait'));
    expect(['submitted', 'working']).toContain(begun.status.state);
    await waiting.begun;
    expect((await alice.getTask(begun.id)).status.state).toBe('working');
    const canceled = await alice.cancelTask(begun.id);
    expect(canceled.status.state).toBe('canceled');
    expect(canceled).not.toHaveProperty('artifacts');
    await waiting.cancelled;
    expect(await alice.getTask(begun.id)).toEqual(canceled);
    const late = await refusal(alice.cancelTask(begun.id));
    expect(late).toMatchObject({ code: -32_002, message: 'Task not cancelable' });
  });

  it('answers when a task takes long, for its caller to ask again (X-26, X-28)', async () => {
    const { alice, waiting } = await trials.open({ answerWithinMs: 1 });
    const { id } = await alice.sendMessage(tool('wait'));
    await waiting.begun;
    waiting.release();
    const done = await until('the task is completed', async () => {
      const task = await alice.getTask(id);
      return task.status.state === 'completed' && task;
    });
    expect(textOf(done)).toBe('done waiting');
  });

  it('keeps the tasks of one account from all others: they are not there (X-39)', async () => {
    const { alice, bob } = trials.usual;
    const { id } = await alice.sendMessage(tool('ask'));
    const works = [
      () => bob.getTask(id),
      () => bob.cancelTask(id),
      () => bob.sendMessage(text('x'), { taskId: id }),
      () => alice.getTask('task-1'),
    ];
    for (const work of works)
      expect(await refusal(work())).toMatchObject({ code: -32_001, message: 'Task not found' });
    const foreign = (await refusal(bob.getTask(id))).data as { detail: string };
    const unknown = (await refusal(bob.getTask('nope'))).data as { detail: string };
    expect(foreign.detail.replace(id, 'nope')).toBe(unknown.detail);
    expect((await alice.getTask(id)).status.state).toBe('input-required');
  });

  it('shows agents who called: the account that has signed, whatever was claimed (X-16, X-32)', async () => {
    const trial = await trials.open({ admission: { authRequired: false } });
    const spoof = {
      message: tool('caller'),
      'xpr:callerAccount': 'bob',
      metadata: { 'xpr:callerAccount': 'bob' },
    };
    const { body } = await post(trial, call('message/send', spoof));
    expect(body.result?.artifacts?.[0]?.parts[0]).toEqual({
      type: 'data',
      data: { 'xpr:callerAccount': 'alice' },
    });
    expect(body.result?.metadata ?? {}).not.toHaveProperty('xpr:callerAccount');
    const anonymous = await post(trial, call('message/send', spoof), { signing: false });
    expect(anonymous.body.result?.artifacts?.[0]?.parts[0]).toEqual({
      type: 'data',
      data: { 'xpr:claimedAccount': 'bob' },
    });
  });
});

describe('A request that is none', () => {
  const ok = JSON.stringify(sending('x'));

  it.each<[string, string, number, unknown]>([
    ['broken JSON', '{"jsonrpc":"2.0",', -32_700, null],
    ['nothing', '', -32_700, null],
    ['no UTF-8', '\u{fffd}"', -32_700, null],
    ['a list of calls', `[${ok},${ok}]`, -32_600, null],
    ['a number', '7', -32_600, null],
    ['another version', '{"jsonrpc":"1.0","id":7,"method":"tasks/get"}', -32_600, 7],
    ['no version', '{"id":7,"method":"tasks/get"}', -32_600, 7],
    ['no method', '{"jsonrpc":"2.0","id":"a"}', -32_600, 'a'],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', -32_600, null],
    ['a notification', '{"jsonrpc":"2.0","method":"message/send","params":{}}', -32_600, null],
    ['parameters without names', '{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":["t"]}', -32_602, 7],
  ])('is told so before it is asked who sends it: %s (X-33, X-34)', async (_, said, code, id) => {
    const asked = trials.usual.node.asked.length;
    const { status, body } = await post(trials.usual, said, { signing: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect(trials.usual.node.asked).toHaveLength(asked);
  });

  it('is too large, or of another media type: an error of the protocol', async () => {
    const trial = await trials.open({}, { limits: { maxBodyBytes: 1_000 } });
    const large = await post(trial, sending('x'.repeat(2_000)), { signing: false });
    expect(large).toMatchObject({
      status: 200,
      body: { error: { code: -32_600, data: { reason: 'BODY_TOO_LARGE' } } },
    });
    const plain = await post(trial, sending('x'), {
      signing: false,
      headers: { 'content-type': 'text/plain' },
    });
    expect(plain).toMatchObject({ status: 200, body: { error: { code: -32_602 } } });
  });

  it('names a method that there is not, or lacks what the method needs (X-35, X-36)', async () => {
    const trial = trials.usual;
    for (const method of ['tasks/list', 'message/stream', 'constructor', '']) {
      const { body } = await post(trial, call(method));
      expect(body.error).toMatchObject({ code: -32_601, message: 'Method not found' });
    }
    const wrong = [
      call('tasks/get', {}),
      call('tasks/cancel', { id: 7 }),
      call('message/send', { message: { role: 'user', parts: [] } }),
      call('message/send', { message: { role: 'agent', parts: [{ type: 'text', text: 'x' }] } }),
      call('message/send', { message: tool('nothing') }),
    ];
    for (const one of wrong) {
      const { body } = await post(trial, one);
      expect(body.error).toMatchObject({
        code: -32_602,
        message: 'Invalid params',
        data: { reason: 'INVALID_PARAMS' },
      });
    }
    // Who may not come in is not told which methods there are.
    const unknown = await post(trial, call('tasks/list'), { signing: false });
    expect(unknown.body.error?.code).toBe(-32_000);
  });
});
