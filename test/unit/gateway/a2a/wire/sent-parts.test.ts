import { describe, expect, it } from 'vitest';
import { readSend as readV03 } from '../../../../../gateway/a2a/wire/v03/requests.ts';
import { readSend as readV1 } from '../../../../../gateway/a2a/wire/v1/requests.ts';

describe.each([
  ['1.0', readV1, { role: 'ROLE_USER' }, {}],
  ['0.3', readV03, { kind: 'message', role: 'user' }, { kind: 'text' }],
])('a message of %s', (_version, read, facts, tag) => {
  const order = (count: number) => ({
    message: {
      messageId: 'm',
      ...facts,
      parts: Array.from({ length: count }, () => ({ ...tag, text: 'a' })),
    },
  });

  it('has at least one part and at most 1,000, counted before one of them is looked into', () => {
    expect(read(order(1_000)).message.parts).toHaveLength(1_000);
    for (const count of [0, 1_001, 200_000])
      expect(() => read(order(count))).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
    const wrong = { message: { ...order(1_001).message, parts: Array(1_001).fill('no part') } };
    expect(() => read(wrong)).toThrow(/message\.parts(?!\[)/);
    expect(() => read(wrong)).not.toThrow(/parts\[/);
  });
});
