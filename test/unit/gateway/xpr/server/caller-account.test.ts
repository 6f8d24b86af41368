import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Principal } from '../../../../../runtime/protocol/principal.ts';
import type { SendOrder } from '../../../../../gateway/a2a/wire/operations.ts';
import { withSenderFacts } from '../../../../../gateway/a2a/server/caller.ts';
import { senderFacts } from '../../../../../gateway/xpr/server/xpr-part.ts';
import { readSend, type XprSendOrder } from '../../../../../gateway/xpr/server/xpr-dialect.ts';

const alice: Principal = { ...ANONYMOUS, id: 'xpr:alice', kind: 'agent' };
const hook: Principal = { ...ANONYMOUS, id: 'hook:x', kind: 'service' };
const spoof = { 'xpr:callerAccount': 'mallory', 'xpr:claimedAccount': 'mallory', other: 1 };

const order = (params: object) =>
  readSend(
    { message: { role: 'user', parts: [{ type: 'text', text: 'x' }], metadata: spoof }, ...params },
    { newId: () => 'm', waitMs: 1 },
  );

/** The order as an agent gets it. */
const withCaller = (read: XprSendOrder, principal: Principal): SendOrder =>
  withSenderFacts(read, senderFacts(read, principal));

describe('Who sent a message', () => {
  it('is the account that was proved, whatever the request says (X-16, X-32)', () => {
    const known = withCaller(order({ 'xpr:callerAccount': 'mallory', metadata: spoof }), alice);
    expect(known.message.metadata).toEqual({ 'xpr:callerAccount': 'alice', other: 1 });
    expect(known.metadata).toEqual({ other: 1 });
  });

  it('is also that in a message that goes on with a task (X-16)', () => {
    const known = withCaller(order({ id: 't', metadata: spoof }), alice);
    expect(known.message.metadata).toEqual({ 'xpr:callerAccount': 'alice', other: 1 });
  });

  it('is only claimed where nothing was proved, and is nobody’s account where something else was (X-32)', () => {
    const claimed = withCaller(order({ 'xpr:callerAccount': 'mallory' }), ANONYMOUS);
    expect(claimed.message.metadata).toEqual({ 'xpr:claimedAccount': 'mallory', other: 1 });
    expect(withCaller(order({}), ANONYMOUS).message.metadata).toEqual({ other: 1 });
    const known = withCaller(order({ 'xpr:callerAccount': 'mallory' }), hook);
    expect(known.message.metadata).toEqual({ other: 1 });
  });

  it('leaves an order as it is that says nothing of it, where nothing is known', () => {
    const plain = readSend(
      { message: { role: 'user', parts: [{ type: 'text', text: 'x' }], metadata: { 'xpr:jobId': 7 } } },
      { newId: () => 'm', waitMs: 1 },
    );
    expect(withCaller(plain, ANONYMOUS)).toBe(plain);
  });
});
