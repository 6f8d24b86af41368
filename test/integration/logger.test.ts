import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type Logger, startSystem, type StartOptions, type Team } from 'orrery';
import { dawdle, fail, greet } from '../fixtures/agents/greeter.agent.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const started: Team[] = [];
afterEach(async () => {
  for (const system of started.splice(0)) await system.stop({ drainMs: 0 });
});

async function team(logger: Logger, options: Partial<StartOptions> = {}): Promise<Team> {
  const system = await startSystem({
    agents: [agent('greeter')],
    workers: 1,
    spareThread: false,
    logger,
    ...options,
  });
  started.push(system);
  return system;
}

interface Line {
  readonly level: number;
  readonly event: string;
  readonly agentId?: string;
  readonly recipient?: string;
  readonly sender?: string;
  readonly msg: string;
}

/** A logger of pino, and what it has written. */
function pinoInMemory() {
  const lines: Line[] = [];
  return { lines, logger: pino({}, { write: (text: string) => lines.push(JSON.parse(text) as Line) }) };
}

describe('A system with a logger of pino', () => {
  it('writes the lives and deaths of agents in worker threads, from the first on', async () => {
    const { lines, logger } = pinoInMemory();
    const system = await team(logger);
    expect(lines.map(({ msg }) => msg)).toContain('agent-started: greeter');
    expect((await rejection(system.ask({ agent: 'greeter', capability: fail }, {}))).code).toBe(
      'HANDLER_FAILED',
    );
    const died = await until('it is logged', () => lines.find(({ event }) => event === 'agent-crashed'));
    expect(died).toMatchObject({
      level: 40,
      agentId: 'greeter',
      msg: expect.stringContaining('it is broken'),
    });
  });

  it('writes dead letters, and nothing of envelopes that go well', async () => {
    const { lines, logger } = pinoInMemory();
    const system = await team(logger);
    const before = lines.length;
    for (let n = 0; n < 10; n++)
      await system.ask({ agent: 'greeter', capability: greet }, { name: 'a name that stands in no log' });
    expect(lines).toHaveLength(before);
    const asked = rejection(system.ask({ agent: 'greeter', capability: dawdle }, { ms: 600_000 }));
    const waiting = rejection(system.ask({ agent: 'greeter', capability: dawdle }, { ms: 600_000 }));
    await until('one waits', async () => (await system.roster())[0]?.waiting === 2);
    await system.stopAgent('greeter');
    await Promise.all([asked, waiting]);
    const letter = await until('it is logged', () => lines.find(({ event }) => event === 'dead-letter'));
    expect(letter).toMatchObject({ level: 40, recipient: 'greeter', sender: 'system/host' });
    expect(JSON.stringify(lines)).not.toContain('a name that stands in no log');
  });

  it('goes on when the logger fails, of which the first time is a warning of the process', async () => {
    const warnings: string[] = [];
    const listen = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', listen);
    const broken = (): never => {
      throw new Error('the disk of the log is full');
    };
    const system = await team({ error: broken, warn: broken, info: broken });
    expect(await system.roster()).toMatchObject([{ id: 'greeter', status: 'running' }]);
    await until('it is warned of', () =>
      warnings.some((text) => text.includes('the disk of the log is full')),
    );
    process.off('warning', listen);
    expect(warnings.filter((text) => text.includes('the disk of the log is full'))).toHaveLength(1);
  });

  it('is refused where it is none', async () => {
    expect(await rejection(startSystem({ logger: { warn: () => undefined } as never }))).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('logger') as string,
    });
  });
});
