import { once } from 'node:events';
import { get, request } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../gateway/http/listen.ts';
import { type Certificates, newCertificates } from '../fixtures/certificate.ts';
import { trialGateway } from '../fixtures/trial-gateway.ts';

let trial: Awaited<ReturnType<typeof trialGateway>>;
let own: Certificates;
let other: Certificates;

beforeAll(async () => {
  [own, other] = [newCertificates(), newCertificates()];
  trial = await trialGateway({}, { tls: { key: own.key, cert: own.cert } });
});
afterAll(() => trial.close({ drainMs: 0 }));

async function read(path: string, options: { ca?: string; key?: string; cert?: string }, port = trial.port) {
  const asked = get({ host: '127.0.0.1', port, path, agent: false, ...options });
  const [answer] = await once(asked, 'response');
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return text;
}

describe('A gateway with a certificate (DESIGN 8)', () => {
  it('proves who it is to callers that know who signed it, and speaks of itself as https', async () => {
    const { url, port } = trial;
    expect(url).toBe(`https://127.0.0.1:${port}`);
    expect(await read('/base', { ca: own.ca })).toBe(`https://127.0.0.1:${port}`);
  });

  it('is refused by callers that do not', async () => {
    await expect(read('/base', {})).rejects.toThrow(/certificate/);
    await expect(read('/base', { ca: other.ca })).rejects.toThrow(/certificate|signature/);
  });

  it('takes a body of 20 MB, and counts what came over its connections', async () => {
    const asked = request({ host: '127.0.0.1', port: trial.port, path: '/size', method: 'POST', ca: own.ca });
    asked.end(Buffer.alloc(20_000_000));
    const [answer] = await once(asked, 'response');
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    expect(text).toBe('{"bytes":20000000}');
    const [, received = ''] =
      /^orrery_gateway_received_bytes_total (\S+)/m.exec(await trial.gateway.metrics.text()) ?? [];
    expect(Number(received)).toBeGreaterThan(20_000_000);
  });

  it('ends connections that are in the clear, and goes on', async () => {
    const socket = connect(trial.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('GET /base HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'close');
    expect(await read('/base', { ca: own.ca })).toContain('https://');
  });

  it('lets in only callers with a certificate, where it asks for one', async () => {
    const { port, gateway } = trial;
    const tls = { key: own.key, cert: own.cert, ca: own.ca, requestCert: true };
    const guarded = await listen(gateway, { tls });
    expect(guarded.port).not.toBe(port);
    expect(await read('/base', { ca: own.ca, key: own.key, cert: own.cert }, guarded.port)).toContain(
      'https://',
    );
    await expect(read('/base', { ca: own.ca }, guarded.port)).rejects.toThrow();
    const foreign = { ca: own.ca, key: other.key, cert: other.cert };
    await expect(read('/base', foreign, guarded.port)).rejects.toThrow();
  });

  it('does not wait for a handshake that does not come', async () => {
    const hasty = await trialGateway(
      { limits: { headersTimeoutMs: 200 } },
      { tls: { key: own.key, cert: own.cert } },
    );
    const socket = connect(hasty.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    await once(socket, 'close');
    const late = connectTls({ host: '127.0.0.1', port: hasty.port, ca: own.ca });
    late.resume();
    await once(late, 'close');
    await hasty.close({ drainMs: 0 });
  });

  it.each([
    [
      'tls.key',
      () => ({ key: 'no key', cert: own.cert }),
      'tls.key is "something else", expected a private key as PEM text',
    ],
    ['tls.key', () => ({ key: '', cert: own.cert }), 'tls.key'],
    [
      'tls.cert',
      () => ({ key: own.key, cert: own.key }),
      'tls.cert is "something else", expected a certificate as PEM text',
    ],
    ['tls.cert', () => ({ key: own.key }), 'tls.cert is undefined'],
    [
      'tls.key',
      () => ({ key: other.key, cert: own.cert }),
      'tls.key is "a private key", expected the one that tls.cert was made for',
    ],
    [
      'tls.ca',
      () => ({ key: own.key, cert: own.cert, requestCert: true }),
      'tls.ca is undefined, expected who signs',
    ],
    ['tls.ca', () => ({ key: own.key, cert: own.cert, ca: 'nobody' }), 'tls.ca'],
  ])('refuses %s that is no good, and tells nothing of a key', async (_, tls, message) => {
    const refused = trialGateway({}, { tls: tls() as { key: string; cert: string } });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('BEGIN');
  });
});
