import { afterEach, describe, expect, it } from 'vitest';
import { MEMBER_LIMITS } from '../../../../gateway/http/json-text.ts';
import { LARGE_BYTES, LargeBodies } from '../../../../gateway/http/large-bodies.ts';
import { readJson } from '../../../../gateway/http/json-text.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { until } from '../../../fixtures/until.ts';
import { rig } from './gateway-rig.ts';

const PADDING = ' '.repeat(LARGE_BYTES);
const WORDS: readonly (readonly [string, string | Buffer])[] = [
  ['a long text', `{"a":"${'é\\u00e9'.repeat(200_000)}"}${PADDING}`],
  ['many numbers', `[${Array.from({ length: 150_000 }, (_, at) => at / 8).join()}]${PADDING}`],
  ['many small objects', `[${Array(150_000).fill('{}').join()}]${PADDING}`],
  ['many keys', `{${Array.from({ length: 19_000 }, (_, at) => `"k${at}":[]`).join()}}${PADDING}`],
  ['names that are special', `${PADDING}{"__proto__":{"a":1},"b":[1e400,-0,"\\ud800"]}`],
  ['half a text', `{"a":"${'x'.repeat(LARGE_BYTES)}`],
  ['no UTF-8', Buffer.concat([Buffer.from(`"${PADDING}`), Buffer.from([0xff, 0x22])])],
  ['too many levels', `${'['.repeat(101)}${']'.repeat(101)}${PADDING}`],
];
const chunksOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
    bytes.subarray(at * 65_536, (at + 1) * 65_536),
  );

describe('Large bodies', () => {
  const opened: LargeBodies[] = [];
  const open = (options: Partial<ConstructorParameters<typeof LargeBodies>[0]> = {}) => {
    const clock = new FakeClock();
    const bodies = new LargeBodies({ clock, limits: MEMBER_LIMITS, maxHeapMb: 512, ...options });
    opened.push(bodies);
    return { bodies, clock };
  };
  afterEach(() => Promise.all(opened.splice(0).map((bodies) => bodies.close())));
  const read = (bodies: LargeBodies, bytes: Uint8Array) => {
    const body = bodies.begin();
    for (const chunk of chunksOf(bytes)) body.take(chunk);
    return body.json();
  };

  it('say in another thread what they say in this one', async () => {
    const { bodies } = open();
    const all = WORDS.map(([, text]) => Buffer.from(text));
    const said = await Promise.all(all.map((bytes) => read(bodies, bytes)));
    for (const [at, bytes] of all.entries()) expect(said[at], WORDS[at]?.[0]).toStrictEqual(readJson(bytes));
    expect(bodies.size).toBe(0);
  });

  it('are refused for too many members, and others beside them are read', async () => {
    const { bodies } = open({ limits: { maxKeys: 3, maxElements: 4 } });
    const [many, few] = [read(bodies, Buffer.from('[1,2,3,4,5]')), read(bodies, Buffer.from('[1]'))];
    await expect(many).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
      message: 'The body of the request has more than 4 array elements',
    });
    expect(await few).toEqual({ kind: 'value', value: [1] });
    const arriving = bodies.begin();
    arriving.take(Buffer.from('[1,2,3,4,5'));
    await until('it is refused while it comes', () => bodies.size === 0);
    expect(() => arriving.take(Buffer.from(']'))).toThrow(/more than 4 array elements/);
  });

  it('end with a thread that dies: whoever waits is told, and the next is read by a new one', async () => {
    const { bodies } = open({
      entry: new URL('../../../fixtures/dying-reader.worker.ts', import.meta.url),
    });
    const [waiting, deadly] = [read(bodies, Buffer.from('[1]')), bodies.begin()];
    expect(await waiting).toEqual({ kind: 'value', value: [1] });
    const arriving = bodies.begin();
    deadly.take(Buffer.from('!'));
    for (const body of [deadly, arriving])
      await expect(body.json()).rejects.toMatchObject({ code: 'THREAD_DIED' });
    expect(() => arriving.take(Buffer.from('1'))).toThrow(expect.objectContaining({ code: 'THREAD_DIED' }));
    expect(await read(bodies, Buffer.from('"a"'))).toEqual({ kind: 'value', value: 'a' });
  });

  it('are forgotten when nobody wants them, and refused when the gateway is closed', async () => {
    const { bodies, clock } = open();
    const dropped = bodies.begin();
    dropped.take(Buffer.from('[1'));
    dropped.drop();
    await expect(dropped.json()).rejects.toMatchObject({ code: 'SYSTEM_STOPPED' });
    expect(bodies.size).toBe(0);
    clock.advance(60_000);
    const late = read(bodies, Buffer.from('[2]'));
    expect(await late).toEqual({ kind: 'value', value: [2] });
    const arriving = bodies.begin();
    await bodies.close();
    await expect(arriving.json()).rejects.toMatchObject({ code: 'SYSTEM_STOPPED' });
    expect(() => bodies.begin()).toThrow(expect.objectContaining({ code: 'SYSTEM_STOPPED' }));
  });
});

describe('A gateway', () => {
  it('reads a large body in another thread, and answers as it does to a small one', async () => {
    const { ask, gateway } = rig({ limits: { maxElements: 1_000 } });
    const post = (body: string) => ask('/json', { method: 'POST', body });
    expect(await (await post(`[1,{"a":"b"}]${PADDING}`)).json()).toEqual({
      kind: 'value',
      value: [1, { a: 'b' }],
    });
    expect(await (await post(`[1,${PADDING}`)).json()).toEqual({ kind: 'no-json' });
    const items = Array(1_001).fill(1).join();
    const answers = await Promise.all([post(`[${items}]`), post(`${PADDING}[${items}]`)]);
    expect(answers.map(({ status }) => status)).toEqual([413, 413]);
    const [small, large] = await Promise.all(answers.map((answer) => answer.json()));
    expect(large).toEqual(small);
    const leaving = new AbortController();
    let more: (chunk?: Uint8Array) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        more = (chunk) => (chunk === undefined ? controller.close() : controller.enqueue(chunk));
      },
    });
    const init = { method: 'POST', body, signal: leaving.signal, duplex: 'half' } as RequestInit;
    const left = ask('/json', init);
    more(Buffer.from(`[${PADDING}`));
    await until('it is taken in', async () =>
      (await gateway.metrics.text()).includes(`bytes_in_hand ${PADDING.length + 1}`),
    );
    leaving.abort();
    more(Buffer.from('1]'));
    expect((await left).status).not.toBe(200);
    await gateway.close();
    expect((await post(`[1]${PADDING}`)).status).toBe(503);
  });
});
