import { describe, expect, it } from 'vitest';
import { textOf, textResponse } from '../../../../gateway/http/answer.ts';

const response = () =>
  textResponse('{"a":"ä"}', { status: 201, headers: { 'Content-Type': 'application/json', 'X-Own': 'yes' } });

describe('an answer of a text that is known whole', () => {
  it('is what any answer of that text is, however it is read', async () => {
    expect(await response().text()).toBe('{"a":"ä"}');
    expect(await response().json()).toEqual({ a: 'ä' });
    expect(new Uint8Array(await response().arrayBuffer())).toEqual(new TextEncoder().encode('{"a":"ä"}'));
    expect(await (await response().blob()).text()).toBe('{"a":"ä"}');
    expect(await response().clone().text()).toBe('{"a":"ä"}');
    const copied = new Response(response().body, response());
    expect({ text: await copied.text(), status: copied.status, own: copied.headers.get('x-own') }).toEqual({
      text: '{"a":"ä"}',
      status: 201,
      own: 'yes',
    });
  });

  it('is read once, and says so', async () => {
    const read = response();
    expect(read.bodyUsed).toBe(false);
    await read.text();
    expect(read.bodyUsed).toBe(true);
    await expect(read.text()).rejects.toThrow(TypeError);
  });

  it('gives its text to whoever sends it, with headers that can be set, until somebody reads it otherwise', async () => {
    const sent = response();
    sent.headers.set('x-more', '1');
    expect({ text: textOf(sent), more: sent.headers.get('x-more'), status: sent.status }).toEqual({
      text: '{"a":"ä"}',
      more: '1',
      status: 201,
    });
    await sent.text();
    expect(textOf(sent)).toBeUndefined();
    expect(textOf(new Response('other'))).toBeUndefined();
  });
});
