import { describe, expect, it } from 'vitest';
import { Silence } from '../../../../../gateway/mcp/client/silence.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

function listening() {
  const clock = new FakeClock();
  const silence = new Silence(clock, 100);
  const ended: string[] = [];
  return { clock, silence, ended, listen: (what: string) => silence.listen(() => ended.push(what)) };
}

describe('How long an MCP server says nothing', () => {
  it('begins when it is asked, and anew when it is heard; nobody cares when it is over', () => {
    const { clock, ended, listen } = listening();
    const heard = listen('heard');
    listen('silent');
    const over = listen('over');
    clock.advance(60);
    heard.heard();
    over.stop();
    over.heard();
    clock.advance(60);
    expect(ended).toEqual(['silent']);
    clock.advance(40);
    expect(ended).toEqual(['silent', 'heard']);
    clock.advance(1_000);
    expect(ended).toHaveLength(2);
  });

  it('does not count while it waits for an answer from here, of all that it asks', async () => {
    const { clock, silence, ended, listen } = listening();
    listen('before');
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const answers = [
      silence.whileAnswering(() => first.promise),
      silence.whileAnswering(() => second.promise),
    ];
    listen('meanwhile').heard();
    clock.advance(1_000);
    first.resolve('Bo');
    expect(await answers[0]).toBe('Bo');
    clock.advance(1_000);
    second.reject(new Error('nobody is there'));
    await expect(answers[1]).rejects.toThrow('nobody is there');
    clock.advance(99);
    expect(ended).toEqual([]);
    clock.advance(1);
    expect(ended).toEqual(['before', 'meanwhile']);
  });
});
