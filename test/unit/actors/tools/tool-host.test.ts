import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolExecutor, ToolHost, toolsOf } from '../../../../actors/tools/index.ts';
import { A2AObservability } from '../../../../runtime/observe/observability.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';

const ANY = { description: 'Does something', inputSchema: z.json(), outputSchema: z.json() };

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('It resolved');
    },
    (error: { code: string; message: string; details: Record<string, unknown>; cause?: unknown }) => error,
  );

describe('A tool host without a system (N-5.5, L-18)', () => {
  it('answers a failure with code, message and source agent, and does not try again (unit case 5.4; N-5.4, N-V03, C-17)', async () => {
    const observability = new A2AObservability();
    const host = new ToolHost({ observability });
    let tries = 0;
    host.registerTool({ ...ANY, agentId: 'mars', name: 'fail' }, () => {
      tries += 1;
      throw new Error('the disk is full');
    });
    host.registerTool({ ...ANY, agentId: 'mars', name: 'decline' }, () => {
      throw new OrreryError('RATE_LIMITED', 'Not so often', { details: { retryAfterMs: 250 } });
    });
    const failed = await failure(host.call('mars.fail', {}));
    expect(failed).toMatchObject({
      code: 'HANDLER_FAILED',
      message: 'The handler of mars failed: the disk is full',
      details: { agentId: 'mars' },
    });
    expect(tries).toBe(1);
    expect(await failure(host.call('mars.decline', {}))).toMatchObject({
      code: 'RATE_LIMITED',
      details: { agentId: 'mars', retryAfterMs: 250 },
    });
    expect(host.invocations().map(({ error }) => error)).toMatchObject([
      { code: 'HANDLER_FAILED', message: failed.message, agentId: 'mars' },
      { code: 'RATE_LIMITED', message: 'Not so often', agentId: 'mars', details: { retryAfterMs: 250 } },
    ]);
    expect(observability.getRecentEvents()).toMatchObject([
      {
        type: 'tool-invocation',
        toolName: 'mars.fail',
        agentId: 'mars',
        success: false,
        errorCode: 'HANDLER_FAILED',
      },
      { type: 'tool-invocation', toolName: 'mars.decline', success: false },
    ]);
  });

  it('names a tool, a resource, a template and a prompt that it does not have (unit case 6.3; N-6.3)', async () => {
    const host = new ToolHost();
    const named = async (work: Promise<unknown>) => (await rejection(work)).message;
    expect(await named(host.call('mars.none', {}))).toBe('There is no tool "mars.none"');
    expect(await named(host.read('file:///none'))).toBe('There is no resource file:///none');
    expect(await named(host.render('mars.none', {}))).toBe('There is no prompt "mars.none"');
    const of = { uriTemplate: 'log://{day}' };
    expect(await named(host.complete({ of, argument: 'day', value: '' }))).toContain('log://{day}');
    expect((await rejection(host.read('file:///none'))).code).toBe('RESOURCE_NOT_FOUND');
  });

  it('is an executor of tools by name and parameters (L-18)', async () => {
    const host = new ToolHost();
    host.registerTool({ ...ANY, agentId: 'mars', name: 'echo' }, (input) => input);
    expect(await host.executor('mars.echo', { a: 1 })).toEqual({ a: 1 });
    const readOnly = toolExecutor(host, { readOnly: true });
    expect((await rejection(readOnly('mars.echo', {}))).code).toBe('NOT_PERMITTED');
  });

  it('checks what a tool answers, and what is no JSON', async () => {
    const host = new ToolHost();
    const schemas = { inputSchema: z.unknown(), outputSchema: z.object({ n: z.int() }) };
    host.registerTool(
      { agentId: 'a', name: 'bad', description: '', ...schemas },
      () => ({ n: 'x' }) as never,
    );
    expect(await failure(host.call('a.bad', {}))).toMatchObject({
      code: 'REFUSED',
      details: { agentId: 'a' },
    });
    expect((await rejection(host.call('a.bad', { at: new Date() }))).code).toBe('NOT_SERIALISABLE');
  });

  it('leaves no placeholder in a prompt: what is not given is empty (N-6.5)', async () => {
    const host = new ToolHost();
    const descriptor = { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] };
    host.registerPrompt('a', descriptor, 'Hello {{who}}{{how}}!');
    const { messages } = await host.render('a.greet', { who: 'toString' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Hello toString!' } }]);
  });

  it('refuses what is tainted where a tool is privileged', async () => {
    const host = new ToolHost();
    host.registerTool({ ...ANY, agentId: 'a', name: 'pay', annotations: { privileged: true } }, () => 'paid');
    expect(await host.call('a.pay', {})).toBe('paid');
    expect((await rejection(host.call('a.pay', {}, { taint: ['web:example.org'] }))).code).toBe('TAINTED');
  });

  it('names the option of a call that there is not, or that is of no use, and does not call', async () => {
    const host = new ToolHost();
    let calls = 0;
    host.registerTool({ ...ANY, agentId: 'mars', name: 'count' }, () => ++calls);
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ readonly: true }, 'readonly is true, expected no option of this name'],
      [{ readOnly: 'yes' }, 'readOnly is "yes", expected boolean'],
      [{ tainted: ['web:a'] }, 'tainted is'],
      [{ taint: 'web:a' }, 'taint is "web:a", expected a list'],
      [{ taint: [] }, 'taint is'],
      [{ timeoutMs: 5 }, 'timeoutMs is 5, expected no option of this name'],
      [{ deadlineAtMs: '5' }, 'deadlineAtMs is "5", expected Unix milliseconds'],
      [{ signal: null }, 'signal is null, expected an AbortSignal'],
      [{ onProgress: 1 }, 'onProgress is 1, expected a function'],
      [{ onReport: {} }, 'onReport is'],
      [{ as: { id: 'me' } }, 'as.tier is undefined'],
      [null, 'options is null, expected an object of options'],
      [7, 'options is 7, expected an object of options'],
    ];
    for (const [options, message] of wrong) {
      const { code, message: said } = await failure(host.call('mars.count', {}, options as never));
      expect([code, said]).toEqual(['INVALID_OPTIONS', expect.stringContaining(message)]);
    }
    expect(calls).toBe(0);
    const asked: Promise<unknown>[] = [
      host.call(7 as never, {}),
      host.read(undefined as never),
      host.render(null as never, {}),
    ];
    asked.push(host.complete({ of: { promt: 'mars.x' }, argument: 'a', value: '' } as never));
    for (const work of asked) expect((await failure(work)).code).toBe('INVALID_OPTIONS');
  });

  it('ends a call that is cancelled, or whose time is over, and aborts its signal', async () => {
    const clock = new FakeClock();
    const host = new ToolHost({ clock });
    const signals: AbortSignal[] = [];
    host.registerTool({ ...ANY, agentId: 'a', name: 'wait' }, (_input, { signal, progress, report }) => {
      signals.push(signal);
      progress(0.25, 'quarter');
      report('so far');
      return new Promise<never>(() => undefined);
    });
    const abort = new AbortController();
    const heard: unknown[] = [];
    const call = host.call(
      'a.wait',
      {},
      {
        signal: abort.signal,
        onProgress: (progress) => heard.push(progress),
        onReport: (report) => heard.push(report),
      },
    );
    abort.abort();
    expect((await rejection(call)).code).toBe('CANCELLED');
    expect(heard).toEqual([{ fraction: 0.25, note: 'quarter' }, 'so far']);
    const late = rejection(host.call('a.wait', {}, { deadlineAtMs: clock.now() + 500 }));
    const byDefault = rejection(host.call('a.wait', {}));
    clock.advance(500);
    expect((await late).code).toBe('DEADLINE_EXCEEDED');
    clock.advance(29_500);
    expect((await byDefault).code).toBe('DEADLINE_EXCEEDED');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect((await rejection(host.call('a.wait', {}, { signal: AbortSignal.abort() }))).code).toBe(
      'CANCELLED',
    );
    expect((await rejection(host.call('a.wait', {}, { deadlineAtMs: clock.now() }))).code).toBe(
      'DEADLINE_EXCEEDED',
    );
    expect(signals).toHaveLength(3);
  });

  it('tells of changes, and forgets an agent as a whole', () => {
    const faults: unknown[] = [];
    const host = new ToolHost({ onFault: (error) => faults.push(error) });
    const heard: string[] = [];
    host.onChange(() => {
      throw new Error('not now');
    });
    const release = host.onChange((change) => heard.push(change));
    host.registerTool({ ...ANY, agentId: 'a', name: 'one' }, () => null);
    host.registerResource('a', { uri: 'x://1', name: 'one' }, () => 'text');
    host.registerResourceTemplate('a', { uriTemplate: 'y://{n}', name: 'many' }, () => 'text');
    host.registerPrompt('a', { name: 'p' }, 'text');
    expect(heard).toEqual(['tools', 'resources', 'resources', 'prompts']);
    expect(faults).toHaveLength(4);
    expect(host.unregister('a')).toBe(true);
    expect(host.unregister('a')).toBe(false);
    expect(heard.slice(4)).toEqual(['tools', 'resources', 'prompts']);
    expect([host.tools(), host.resources(), host.templates(), host.prompts()]).toEqual([[], [], [], []]);
    release();
    const updates: string[] = [];
    const leave = host.onUpdate((uri) => updates.push(uri));
    host.resourceChanged('x://1');
    leave();
    host.resourceChanged('x://2');
    expect(updates).toEqual(['x://1']);
  });

  it('keeps the last thousand calls, and of large values how large they were', async () => {
    const host = new ToolHost();
    host.registerTool({ ...ANY, agentId: 'a', name: 'echo' }, (input) => input);
    const large = 'x'.repeat(20_000);
    await host.call('a.echo', { large });
    expect(host.invocations()[0]).toMatchObject({
      arguments: { omitted: 'it is too large' },
      result: { omitted: 'it is too large' },
    });
    const given = { n: 0 };
    await host.call('a.echo', given);
    given.n = 5;
    expect(host.invocations()[1]?.arguments).toEqual({ n: 0 });
    for (let n = 1; n <= 1_200; n++) await host.call('a.echo', { n });
    const kept = host.invocations();
    expect(kept).toHaveLength(1_000);
    expect([kept[0]?.arguments, kept.at(-1)?.arguments]).toEqual([{ n: 201 }, { n: 1_200 }]);
  });

  it('takes no tool whose options it would not keep to', () => {
    const host = new ToolHost();
    const register = (given: unknown) => () => host.registerTool(given as never, () => 1 as never);
    expect(register({ ...ANY, agentId: 'mars', name: 'wipe', privileged: true })).toThrow(
      'privileged is true, expected no option of this name',
    );
    expect(register(null)).toThrow('registration is null, expected an object of options');
    expect(host.tools()).toEqual([]);
    expect(() => new ToolHost({ clok: 1 } as never)).toThrow('clok is 1, expected no option of this name');
    expect(() => new ToolHost({ observability: 7 } as never)).toThrow('observability is 7, expected');
    expect(() => toolsOf(undefined as never)).toThrow('ctx is undefined');
  });

  it('names field and value of what is no registration', () => {
    const host = new ToolHost();
    const wrong = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        return (error as Error).message;
      }
      return 'nothing was thrown';
    };
    const noop = () => null;
    expect(wrong(() => host.registerTool({ ...ANY, agentId: '', name: 'x' }, noop))).toContain('agentId');
    expect(wrong(() => host.registerTool({ ...ANY, agentId: 'a', name: 'x y' }, noop))).toContain('"x y"');
    expect(wrong(() => host.registerTool({ ...ANY, agentId: 'a', name: 'x' }, 5 as never))).toContain(
      'a.x is 5',
    );
    expect(
      wrong(() =>
        host.registerTool({ ...ANY, agentId: 'a', name: 'x', outputSchema: z.date() as never }, noop),
      ),
    ).toContain('capability "x".output');
    host.registerResource('a', { uri: 'x://1', name: 'one' }, () => 'text');
    expect(wrong(() => host.registerResource('b', { uri: 'x://1', name: 'one' }, () => 'text'))).toContain(
      'x://1',
    );
    expect(host.tools()).toEqual([]);
  });
});
