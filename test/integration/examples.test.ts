import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONDITIONS } from '../fixtures/conditions.ts';

const run = promisify(execFile);

/** What an example prints; `typed` is what somebody types meanwhile. */
async function outputOf(example: string, typed = ''): Promise<string> {
  const path = fileURLToPath(new URL(`../../examples/${example}.ts`, import.meta.url));
  const running = run(process.execPath, [...CONDITIONS, path], { timeout: 100_000 });
  running.child.stdin?.end(typed);
  const { stdout } = await running;
  return stdout.trim();
}

describe('examples (F-12)', () => {
  it('two-machines has a program on one machine ask an agent on another', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-two-machines-'));
    const program = (name: string) =>
      fileURLToPath(new URL(`../../examples/two-machines/${name}.ts`, import.meta.url));
    const oslo = async (...args: readonly string[]) =>
      (await run(process.execPath, [...CONDITIONS, program('oslo'), ...args], { cwd: folder })).stdout.trim();
    const rome = spawn(process.execPath, [...CONDITIONS, program('rome'), await oslo()], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const { value } = await createInterface({ input: rome.stdout })[Symbol.asyncIterator]().next();
      expect(await oslo(...String(value).split(' '))).toBe('HELLO! (to oslo/system/host)');
    } finally {
      const gone = once(rome, 'exit');
      rome.kill();
      await gone;
      await rm(folder, { recursive: true });
    }
  });

  it('hello asks an agent that asks another, and ends by itself', async () => {
    expect(await outputOf('hello')).toBe('HELLO, WORLD!');
  });

  it('supervised-crash survives a throw and an endless loop', async () => {
    const lines = (await outputOf('supervised-crash')).split('\n');
    expect(lines.map((line) => line.split(' = ')[1]?.split(':')[0])).toEqual([
      '2.5',
      'HANDLER_FAILED',
      '2.5',
      'ACTOR_DIED',
      '2.5',
      undefined,
    ]);
    expect(lines.at(-1)).toBe('pluto is running after 2 restarts');
  });

  it('swarm agrees with one agent on a task, and has several share another', async () => {
    expect((await outputOf('swarm')).split('\n')).toEqual([
      'accepted triton',
      "completed { 'words.count': 4, 'words.shout': 'NOTHING IS LOST SILENTLY' }",
    ]);
  });

  it('simulate-swarm finds the bug that only a crash brings to light, and none where it is mended', async () => {
    const lines = (await outputOf('simulate-swarm/find-the-bug')).split('\n');
    expect(lines[0]).toMatch(/^A bill for each attempt: Seed \d+ breaks it with [23] commands/);
    expect(lines.slice(1, -2).join()).toMatch(/crash\(.*count\(|count\(.*crash\(/);
    expect(lines.slice(-2)).toEqual([
      '- A sub-task was billed twice',
      'A bill for each sub-task: nothing found in 40 runs',
    ]);
  });

  it('upgrade hands a state on, and parks the agent when nothing leads back', async () => {
    expect((await outputOf('upgrade/main')).split('\n')).toEqual([
      'sun: 1',
      'moon: 1',
      'sun: 2',
      'sun: 3, after moon',
      'SNAPSHOT_UNKNOWN - no migration leads from 2.0.0 to 1.0.0',
      'moon: 2, after sun',
    ]);
  });

  it('tools has an agent call what others offer, and read what goes wrong', async () => {
    expect((await outputOf('tools')).split('\n')).toEqual([
      "[ 5, 2.5, 'REFUSED', 'INVALID_PAYLOAD', 'TOOL_NOT_FOUND' ]",
      "[ 'io.numbers.add', 'io.numbers.divide', 'planner.plan.work' ]",
      "[ { uri: 'io://limits', text: 'It has no zero.' } ]",
    ]);
  });

  it('privileged does what a page wants when a person at the terminal says yes, and only then', async () => {
    expect((await outputOf('privileged', 'yes\nno\n')).split('\n')).toEqual([
      'files.remove of draft.txt, as web:example.org wants it? (yes or no)',
      'removed draft.txt',
      'files.remove of keys.txt, as web:example.org wants it? (yes or no)',
      'TAINTED',
    ]);
  });

  it('serving answers over A2A and MCP whoever has a key', async () => {
    const said = await outputOf('serving');
    expect(said).toContain("A2A: completed [ { text: 'HELLO!' } ]");
    expect(said).toContain("MCP: {\n  content: [ { type: 'text', text: 'HELLO!' } ]");
    expect(said).toContain('no key: UNAUTHENTICATED');
  });

  it('mcp-server has a server that died back for the next call', async () => {
    expect((await outputOf('mcp-server/main')).split('\n')).toEqual([
      'clock.weekday',
      'clock.stop_the_clock',
      "{ content: [ { type: 'text', text: 'Thursday' } ] }",
      'ACTOR_DIED',
      "{ content: [ { type: 'text', text: 'Wednesday' } ] }",
    ]);
  });

  it('own-process keeps an agent from files and from the memory of others', async () => {
    const lines = (await outputOf('own-process')).split('\n');
    expect(lines.slice(0, 2)).toEqual(['/granted.txt: 5 bytes', '/etc/passwd: ERR_ACCESS_DENIED']);
    expect(lines[2]).toMatch(/^ACTOR_DIED: .* its process used \d+ MB of memory, and may use 320$/);
    expect(lines[3]).toBe('still there: 5 bytes');
  });

  it('own-loop works on while the embedding thread is blocked', async () => {
    expect((await outputOf('own-loop')).split('\n')).toEqual([
      'round 1: 3 of 3 steps were done while this thread was blocked',
      'round 2: 3 of 3 steps were done while this thread was blocked',
    ]);
  });

  it('mission-with-models has a model judge what a scan finds, and what it makes up refused', async () => {
    expect((await outputOf('mission-with-models/main')).split('\n')).toEqual([
      'scan: accepted, scanner, attempt 1, findings: 2, refused by the gate: 0',
      'triage: accepted, reviewer, attempt 2, findings: 1, refused by the gate: 1',
      '  1 of them can wait',
      'summary: accepted, writer, attempt 1, findings: 0, refused by the gate: 0',
      '  The scan found code.eval and dom.inner-html. Begin with what is critical.',
      'all-accepted',
      'calls of a model: 6',
    ]);
  });
});
