import { capability } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AskOptions, TellOptions } from '../../../runtime/agent/context.ts';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { Handling } from '../../../runtime/cell/handling.ts';
import { type Identity, MailMaker } from '../../../runtime/cell/mail-maker.ts';
import { Mail, type MailExtras, messageTypeOf, NO_ASK, typeIndex } from '../../../runtime/mailbox/mail.ts';
import type { A2AMessageType } from '../../../runtime/protocol/envelope.ts';

const NOW_MS = 1_000;
const survey = capability({
  id: 'survey',
  description: 'Surveys',
  input: z.unknown(),
  output: z.unknown(),
});
const MARS: Identity = {
  id: 'mars',
  slot: 4,
  party: { id: 'mars', tier: 2, sandboxId: undefined, isSystem: false },
};

function maker() {
  let serial = 0;
  const next = (): number => {
    serial += 1;
    return serial;
  };
  const make = new MailMaker({ origin: 'o', next }, () => NOW_MS);
  return {
    ask: (options: unknown = {}, parent?: Handling, isStream = false): Mail =>
      make.ask(MARS, { agent: 'venus', capability: survey }, 'all', options as AskOptions, parent, isStream),
    tell: (options: unknown = {}, parent?: Handling): Mail =>
      make.tell(MARS, 'venus', 'all', options as TellOptions, parent),
  };
}

/** What `mars` has in hand, sent by `sun`. */
function inHand(
  {
    type = 'request',
    deadlineAtMs = 0,
    correlationId,
    extras,
  }: { type?: A2AMessageType; deadlineAtMs?: number; correlationId?: string; extras?: MailExtras } = {},
  isRetry = false,
): Handling {
  const cell = { row: MARS, isRetry: () => isRetry, lives: { taint: undefined } } as unknown as Cell;
  const path = [{ agent: 'sun', capability: 'plan', envelopeId: 'above' }];
  const mail = new Mail(
    'here',
    'o',
    typeIndex(type),
    'sun',
    'mars',
    correlationId,
    0,
    null,
    'dig',
    deadlineAtMs,
    NO_ASK,
    path,
    extras,
  );
  return new Handling(cell, mail);
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('What a mail cannot be made of is refused with field and value', () => {
  const { ask, tell } = maker();
  it.each<[string, (options: unknown) => Mail, object, string, string]>([
    ['a time that does not end', ask, { timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs', 'Infinity'],
    ['a time that is none', ask, { timeoutMs: Number.NaN }, 'timeoutMs', 'NaN'],
    ['a moment that is none', tell, { deadlineAtMs: Number.NaN }, 'deadlineAtMs', 'NaN'],
    ['a type of message that there is not', tell, { type: 'shout' }, 'type', '"shout"'],
    ['a listener', ask, { onSent: 5 }, 'onSent', '5'],
    ['a listener of taint', ask, { onTaint: 'x' }, 'onTaint', '"x"'],
    ['a list for additions', ask, { metadata: [1] }, 'metadata', '[1]'],
    ['an addition in the name of the runtime', ask, { metadata: { tier: 0 } }, 'metadata.tier', '0'],
    ['a budget below nothing', ask, { budget: { tokens: -1 } }, 'budget.tokens', '-1'],
    ['a taint of no sources', tell, { taint: 'web' }, 'taint', '"web"'],
  ])('%s', (_, make, options, field, value) => {
    expect(thrownBy(() => make(options))).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining(`${field} is ${value}, expected `),
      details: { field, value },
    });
  });
});

describe('What is sent of its own accord', () => {
  const { ask, tell } = maker();

  it('has an id of its own, no path, and a deadline only if it is asked for or has one', () => {
    const [asked, told] = [ask(), tell()];
    expect(asked.id).not.toBe(told.id);
    expect([asked.deadlineAtMs, told.deadlineAtMs]).toEqual([NOW_MS + 30_000, 0]);
    expect(tell({ deadlineAtMs: 7 }).deadlineAtMs).toBe(7);
    expect([asked.path, told.path, asked.extras, told.extras]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('begins a conversation of its own when it is asked, or takes part in the one that is named', () => {
    const asked = ask();
    expect(asked.correlationId).toBe(asked.id);
    expect(ask({ correlationId: 'talk' }).correlationId).toBe('talk');
    expect(tell().correlationId).toBeUndefined();
  });

  it('is a request, a stream, or of the type that is said', () => {
    expect(
      [ask(), ask({}, undefined, true), tell(), tell({ type: 'task-accept' })].map(messageTypeOf),
    ).toEqual(['request', 'stream-start', 'notification', 'task-accept']);
  });
});

describe('What is sent while an envelope is in hand', () => {
  const { ask, tell } = maker();

  it.each([
    ['earlier than its own', NOW_MS + 10, { timeoutMs: 50 }, NOW_MS + 10],
    ['later than its own', NOW_MS + 90, { timeoutMs: 50 }, NOW_MS + 50],
    ['none', 0, { timeoutMs: 50 }, NOW_MS + 50],
  ])('is asked with the narrower deadline where the one above is %s', (_, deadlineAtMs, options, is) => {
    expect(ask(options, inHand({ deadlineAtMs })).deadlineAtMs).toBe(is);
  });

  it('is told with the deadline above, unless its own is earlier', () => {
    const parent = inHand({ deadlineAtMs: 500 });
    expect(
      [tell({}, parent), tell({ deadlineAtMs: 400 }, parent), tell({ deadlineAtMs: 600 }, parent)].map(
        (mail) => mail.deadlineAtMs,
      ),
    ).toEqual([500, 400, 500]);
  });

  it('has the conversation above, unless it names another one', () => {
    const parent = inHand({ correlationId: 'talk' });
    expect(
      [ask({}, parent), tell({}, parent), ask({ correlationId: 'own' }, parent)].map(
        (mail) => mail.correlationId,
      ),
    ).toEqual(['talk', 'talk', 'own']);
  });

  it('has the path above, and the request in hand on it; what asks for no work is not on it', () => {
    const above = { agent: 'sun', capability: 'plan', envelopeId: 'above' };
    const here = { agent: 'mars', capability: 'dig', envelopeId: 'here' };
    expect(ask({}, inHand()).path).toEqual([above, here]);
    expect(tell({}, inHand()).path).toEqual([above, here]);
    expect(ask({}, inHand({ type: 'notification' })).path).toEqual([above]);
  });

  it('has the taint above and what its sender adds, and is done on the same behalf; no option says otherwise', () => {
    const outsider = { name: 'eve', key: [7, 1] as const };
    const requester = { principalId: 'key:alice', tenant: 'acme', roles: ['reader'] };
    const extras: MailExtras = { taint: ['web:a'], requester, outsider };
    const told = tell(
      { taint: ['web:b'], requester: { ...requester, tenant: 'globex' } },
      inHand({ extras }),
    );
    expect(told.extras).toMatchObject({ requester, outsider });
    expect([...(told.extras?.taint ?? [])].sort()).toEqual(['web:a', 'web:b']);
    expect(tell({}, inHand()).extras).toBeUndefined();
  });

  it('has an id that a second attempt gives again; a stream never has', () => {
    const [first, second] = [inHand({}, true), inHand({}, true)];
    const idsOf = (parent: Handling): string[] => [ask({}, parent), tell({}, parent)].map(({ id }) => id);
    expect(idsOf(first)).toEqual(['here~1', 'here~2']);
    expect(idsOf(second)).toEqual(['here~1', 'here~2']);
    expect(ask({}, first).extras).toMatchObject({ derived: true });
    const streamed = ask({}, first, true);
    expect(streamed.id).not.toContain('here~');
    expect(streamed.extras).toEqual({ stream: true });
    expect(ask({}, inHand({}, false)).id).not.toContain('here~');
  });
});
