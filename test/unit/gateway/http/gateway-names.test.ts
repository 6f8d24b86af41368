import { describe, expect, it } from 'vitest';
import { errorOf, rig } from './gateway-rig.ts';

describe('Names and pages (DESIGN 8)', () => {
  it.each([
    'localhost',
    'localhost:4000',
    '127.0.0.1',
    '127.8.9.1:80',
    '[::1]:4000',
    '10.1.2.3',
    'x.localhost',
  ])('is reached as %s', async (host) => {
    expect((await rig().ask('/agents/mars', {}, host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'evillocalhost',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:4000',
  ])('is not reached as %s, which somebody else may lead here (DNS rebinding)', async (host) => {
    const answer = await rig().ask('/agents/mars', {}, host);
    expect(answer.status).toBe(421);
    expect(await errorOf(answer)).toMatchObject({ code: 'HOST_NOT_SERVED' });
  });

  it('is reached under the names that it is given, or any', async () => {
    const named = rig({ hosts: ['agents.example:8443'], publicUrl: 'https://orrery.example/team/' });
    expect((await named.ask('/agents/mars', {}, 'AGENTS.example')).status).toBe(200);
    expect((await named.ask('/base', {}, 'orrery.example')).status).toBe(200);
    expect((await named.ask('/agents/mars', {}, 'other.example')).status).toBe(421);
    expect(await (await named.ask('/base')).text()).toBe('https://orrery.example/team');
    expect((await rig({ hosts: 'any' }).ask('/agents/mars', {}, 'other.example')).status).toBe(200);
    expect(await (await rig().ask('/base', {}, '127.0.0.1:81')).text()).toBe('http://127.0.0.1:81');
  });

  it('refuses pages of other origins, and lets those in that it is told of', async () => {
    const { ask } = rig({ origins: ['https://app.example'] });
    for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.example']) {
      const answer = await ask('/agents/mars', { headers: { origin } });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const allowed = await ask('/agents/mars', { headers: { origin: 'https://app.example' } });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(allowed.headers.get('vary')).toBe('Origin');
    const own = await ask('/agents/mars', { headers: { origin: 'http://localhost' } });
    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('takes pages of its public URL for its own, which a proxy passes on as something else', async () => {
    const { ask } = rig({ publicUrl: 'https://orrery.example/team' });
    const from = (origin: string) => ask('/agents/mars', { headers: { origin } }, 'orrery.example');
    const own = await from('https://orrery.example');
    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
    for (const origin of ['https://orrery.example:444', 'https://app.orrery.example', 'undefined'])
      expect((await from(origin)).status).toBe(403);
  });

  it('answers a browser that asks first, for the same pages only', async () => {
    const { ask } = rig({ origins: ['https://app.example'] });
    const preflight = (origin: string) =>
      ask('/echo', {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type',
        },
      });
    const yes = await preflight('https://app.example');
    expect(yes.status).toBe(204);
    expect(yes.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(yes.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    expect((await preflight('https://evil.example')).status).toBe(403);
  });
});
