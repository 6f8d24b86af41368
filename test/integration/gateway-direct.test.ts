import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import { ANONYMOUS } from '../../runtime/protocol/principal.ts';
import { answerDirectly } from '../../gateway/http/route-of.ts';
import type { GatewayPart } from '../../gateway/http/gateway-part.ts';
import { errorAnswer } from '../../gateway/http/http-errors.ts';
import { rawConnection } from '../fixtures/raw-http.ts';
import { trialGateway } from '../fixtures/trial-gateway.ts';

/** Says what it has read, and which way it came. */
const direct: GatewayPart = {
  name: 'direct',
  routes: [],
  mount: (app, edge) =>
    answerDirectly(app, 'POST', '/:who/direct', async (call, who) => {
      try {
        const body = await edge.read(call);
        const { method, url, headers } = call;
        await edge.admit({ method, url, headers, body: body.bytes });
        const way = call instanceof Request ? 'general' : 'direct';
        const text = JSON.stringify({ who, bytes: body.length, way, base: edge.baseUrl(call) });
        return { status: 200, headers: { 'content-type': 'application/json' }, body: text };
      } catch (error) {
        return errorAnswer(error);
      }
    }),
};

const open = (options: Parameters<typeof trialGateway>[0] = {}) =>
  trialGateway({ parts: [direct], ...options });

/** What a gateway answers to these very lines; its own `date` and name of the request left out. */
function heard(port: number, path: string, lines: readonly string[], body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('end', () => resolve(text.replace(/^(date|x-request-id): .*\r\n/gim, ''))).on('error', reject);
    const head = [`POST ${path} HTTP/1.1`, ...lines, 'Connection: close'].join('\r\n');
    socket.write(`${head}\r\n\r\n${body}`);
  });
}

const parted = (answer: string) => {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [status = '', ...fields] = head.split('\r\n');
  return { status, fields: fields.map((field) => field.toLowerCase()).sort(), body };
};

describe('A route that is answered directly (DESIGN 8)', () => {
  const CASES: readonly [string, readonly string[], string][] = [
    ['a body', ['Host: localhost', 'Content-Length: 5'], '12345'],
    ['a name that is not served', ['Host: evil.example', 'Content-Length: 2'], 'hi'],
    [
      'a page of another origin',
      ['Host: localhost', 'Origin: https://evil.example', 'Content-Length: 2'],
      'hi',
    ],
    ['a page that may', ['Host: localhost', 'Origin: https://app.example', 'Content-Length: 2'], 'hi'],
    ['an encoded body', ['Host: localhost', 'Content-Encoding: gzip', 'Content-Length: 2'], 'hi'],
    ['no credentials', ['Host: localhost', 'X-Refuse: yes', 'Content-Length: 2'], 'hi'],
    [
      'two credentials',
      ['Host: localhost', 'Authorization: a', 'Authorization: b', 'Content-Length: 2'],
      'hi',
    ],
  ];

  it.each(CASES)('is answered as any other is: %s', async (_what, lines, body) => {
    const gateway = await open({
      origins: ['https://app.example'],
      schemes: ['Bearer'],
      admit: async ({ headers }) => {
        if (headers.get('x-refuse') !== null) throw unauthenticated('it has no credentials');
        const said = headers.get('authorization');
        if (said !== null && said !== 'a, b') throw new Error(`one of two was taken: ${said}`);
        return ANONYMOUS;
      },
    });
    const plain = parted(await heard(gateway.port, '/mars/direct', lines, body));
    const general = parted(await heard(gateway.port, '/mars/direct?way=general', lines, body));
    const asGeneral = (text: string): string => text.replace('"direct"', '"general"');
    const ofLength = (fields: readonly string[]): readonly string[] =>
      fields.filter((field) => !field.startsWith('content-length'));
    expect(asGeneral(plain.body)).toBe(general.body);
    expect([plain.status, ofLength(plain.fields)]).toEqual([general.status, ofLength(general.fields)]);
    await gateway.close();
  });

  it('is so only where nothing about a request can be read in two ways', async () => {
    const gateway = await open({ limits: { maxBodyBytes: 10 } });
    const way = async (path: string, lines: readonly string[], body: string): Promise<string> => {
      const answer = parted(await heard(gateway.port, path, lines, body));
      return /"way":"(\w+)"/.exec(answer.body)?.[1] ?? answer.status.slice(9, 12);
    };
    const length = 'Content-Length: 2';
    expect(await way('/mars/direct', ['Host: localhost:4000', length], 'hi')).toBe('direct');
    expect(await way('/mars/direct', ['Host: LOCALHOST', length], 'hi')).toBe('general');
    expect(await way('/m%61rs/direct', ['Host: localhost', length], 'hi')).toBe('general');
    expect(await way('/x/../mars/direct', ['Host: localhost', length], 'hi')).toBe('general');
    const chunked = ['Host: localhost', 'Transfer-Encoding: chunked'];
    expect(await way('/mars/direct', chunked, '2\r\nhi\r\n0\r\n\r\n')).toBe('general');
    expect(await way('/mars/direct', ['Host: localhost', 'Content-Length: 11'], 'hello world')).toBe('413');
    await gateway.close();
    expect(gateway.inHand()).toBe(0);
  });

  it('lets go of the rest of a body that it refuses, and answers what follows on its connection', async () => {
    const gateway = await open({ limits: { maxElements: 10 } });
    const { say, hears, socket } = await rawConnection(gateway.port);
    const head = (length: number): string =>
      `POST /mars/direct HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
    const many = `[${Array(12).fill(1).join()}`;
    const rest = 'x'.repeat(4_000_000);
    say(head(many.length + rest.length));
    say(many);
    await hears(' 413 ');
    say(rest);
    say(`${head(3)}abc`);
    await hears('"bytes":3');
    socket.destroy();
    await gateway.close();
  });
});
