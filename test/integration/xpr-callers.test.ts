import { describe, expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { ALICES_KEY, BOBS_KEY } from '../fixtures/k1-keys.ts';
import { type Answer, post, refusal, sending, text, textOf, tool } from '../fixtures/xpr-calls.ts';
import { xprTrials } from '../fixtures/xpr-trials.ts';

const trials = xprTrials();

describe('Who calls over the XPR binding', () => {
  const denied = async (answer: Promise<Answer>): Promise<{ reason: string; detail: string }> => {
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(body.error).toMatchObject({ code: -32_000, message: 'Authentication error' });
    return body.error?.data as { reason: string; detail: string };
  };

  it('must have signed just this request, now, with an active key of the account (X-11, X-12, X-15, X-17, X-38)', async () => {
    const trial = trials.usual;
    const said = sending('hi');
    const now = trial.clock.now();
    const refused = [
      () => post(trial, said, { signing: false }),
      () => post(trial, said, { signing: { atMs: now - 301_000 } }),
      () => post(trial, said, { signing: { atMs: now + 301_000 } }),
      () => post(trial, said, { signing: { signingKey: BOBS_KEY } }),
      () => post(trial, said, { signing: { account: 'carol' } }),
      () => post(trial, said, { sent: JSON.stringify(said).replace('hi', 'ho') }),
      () => post(trial, said, { headers: { 'X-XPR-Signature': 'SIG_K1_x' } }),
      () => post(trial, said, { headers: { 'X-XPR-Account': 'bob' } }),
    ];
    for (const one of refused) expect(await denied(one())).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect((await post(trial, said)).body.result?.status.state).toBe('completed');
  });

  it('is let in once with one request, also at another agent', async () => {
    const trial = trials.usual;
    const said = sending('once');
    expect((await post(trial, said)).body.result?.status.state).toBe('completed');
    expect((await denied(post(trial, said))).detail).toContain('before');
    expect((await denied(post(trial, said, { path: '/mars/a2a' }))).detail).toContain('before');
  });

  it('says for whom a request is, where that is asked for', async () => {
    const here = 'https://agents.example';
    const trial = await trials.open({ admission: { signature: { audience: here, requiresAudience: true } } });
    expect((await denied(post(trial, sending('a')))).detail).toContain('whom it is for');
    const elsewhere = { signing: { audience: 'https://other.example' } };
    expect((await denied(post(trial, sending('b'), elsewhere))).detail).toContain('somebody else');
    const { body } = await post(trial, sending('c'), { signing: { audience: here } });
    expect(body.result?.status.state).toBe('completed');
    const caller = trial.client('alice', ALICES_KEY, { audience: here });
    expect((await caller.sendMessage(text('d'))).status.state).toBe('completed');
  });

  it('may have new keys within five minutes, and no old ones after them (X-13, X-14)', async () => {
    const trial = await trials.open();
    await post(trial, sending('1'));
    trial.node.keys.set('alice', [publicKeyOfPrivate(BOBS_KEY)]);
    expect((await post(trial, sending('2'))).body.result?.status.state).toBe('completed');
    trial.clock.advance(300_000);
    expect(await denied(post(trial, sending('3')))).toMatchObject({ reason: 'UNAUTHENTICATED' });
    const rotated = await post(trial, sending('4'), { signing: { signingKey: BOBS_KEY } });
    expect(rotated.body.result?.status.state).toBe('completed');
  });

  it('is told when to come again, when it was too often (X-22, X-38)', async () => {
    const trial = await trials.open({ admission: { requestsPerMinute: 2 } });
    await trial.alice.sendMessage(text('1'));
    trial.clock.advance(20_000);
    await trial.alice.sendMessage(text('2'));
    const limited = await refusal(trial.alice.sendMessage(text('3')));
    expect(limited).toMatchObject({ code: -32_000, data: { reason: 'RATE_LIMITED', retryAfterSeconds: 40 } });
    expect((await trial.bob.sendMessage(text('4'))).status.state).toBe('completed');
    trial.clock.advance(40_000);
    expect((await trial.alice.sendMessage(text('5'))).status.state).toBe('completed');
  });

  it('shares one rate with all who are anonymous, where they are let in, and one set of tasks (X-23, C-08)', async () => {
    const { client } = await trials.open({ admission: { authRequired: false, requestsPerMinute: 2 } });
    const { id } = await client().sendMessage(text('1'));
    expect((await client('alice').getTask(id)).id).toBe(id);
    expect(await refusal(client().getTask(id))).toMatchObject({ data: { reason: 'RATE_LIMITED' } });
  });

  it('is registered, active, identified and trusted as far as is asked for (X-18, X-19, X-20, C-08)', async () => {
    const trial = await trials.open({
      admission: { authRequired: false, trust: { minKycLevel: 2, minTrustScore: 25 } },
    });
    const { node, clock } = trial;
    const why = async (): Promise<string> => {
      clock.advance(300_000);
      const { data } = await refusal(trial.alice.sendMessage(text('x')));
      expect(data).toMatchObject({ reason: 'PERMISSION_DENIED' });
      return (data as { detail: string }).detail;
    };
    const alice = { account: 'alice', owner: 'alice', registered_at: clock.now() / 1_000 };
    node.agents.set('alice', alice);
    expect(await why()).toContain('level 0');
    node.kycLevels.set('alice', 2);
    expect(await why()).toContain('score is 20');
    node.agents.set('alice', { ...alice, stake: '2500.0000 XPR', active: false });
    expect(await why()).toContain('not active');
    node.agents.delete('alice');
    expect(await why()).toContain('registered');
    expect(await refusal(trial.client().sendMessage(text('x')))).toMatchObject({
      data: { reason: 'PERMISSION_DENIED' },
    });
    node.agents.set('alice', { ...alice, stake: '2500.0000 XPR' });
    clock.advance(300_000);
    expect((await trial.alice.sendMessage(text('x'))).status.state).toBe('completed');
  });

  it('is not let in while the chain cannot be asked, and is told to come again', async () => {
    const trial = await trials.open();
    trial.node.mood = { status: 503 };
    expect(await refusal(trial.alice.sendMessage(text('x')))).toMatchObject({
      code: -32_000,
      data: { reason: 'PERMISSION_DENIED', retryAfterSeconds: 5 },
    });
    trial.node.mood = 'well';
    expect((await trial.alice.sendMessage(text('x'))).status.state).toBe('completed');
  });
});

describe('What may be asked for over the XPR binding', () => {
  it('is everything, or only what changes nothing (X-24)', async () => {
    const { alice } = await trials.open({ toolMode: 'readonly' });
    expect(textOf(await alice.sendMessage(tool('read')))).toBe('read: x');
    for (const message of [tool('say'), text('to the default')]) {
      const error = await refusal(alice.sendMessage(message));
      expect(error).toMatchObject({ code: -32_000, data: { reason: 'PERMISSION_DENIED' } });
      expect(JSON.stringify(error.data)).toContain('readOnly');
    }
    const { alice: free } = await trials.open({ toolMode: 'full' });
    expect(textOf(await free.sendMessage(tool('say')))).toBe('mars: x');
  });

  it('is as many messages to a task as it takes', async () => {
    const { alice } = await trials.open({ mostMessages: 2 });
    const { id } = await alice.sendMessage(tool('approve'));
    await alice.sendMessage(text('what?'), { taskId: id });
    expect(await refusal(alice.sendMessage(text('what?'), { taskId: id }))).toMatchObject({
      code: -32_000,
      data: { reason: 'QUOTA_EXCEEDED' },
    });
    expect((await alice.cancelTask(id)).status.state).toBe('canceled');
  });
});
