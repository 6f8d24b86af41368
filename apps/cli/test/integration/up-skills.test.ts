import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Wired } from '../../../../test/fixtures/speaker.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { Orrery, orrery } from '../spawn-orrery.ts';

let folder: string;
const running: Orrery[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-up-skills-'));
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.child.kill('SIGKILL');
    await one.ended;
  }
  rmSync(folder, { recursive: true });
});

interface Task {
  readonly id: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly { readonly text?: string }[] };
  };
  readonly artifacts?: readonly { readonly parts: readonly { readonly data: Wired }[] }[];
}

/** The command with the skills, as whoever has its token meets it. */
class Served {
  readonly #command: Orrery;
  readonly #url: string;
  readonly #token: string;

  constructor(command: Orrery) {
    this.#command = command;
    const [, url = ''] = /"type":"serving","url":"([^"]+)"/.exec(command.stdout) ?? [];
    const [, token = ''] = /"token":"([^"]+)"/.exec(command.stdout) ?? [];
    this.#url = url;
    this.#token = token;
  }

  static async start(): Promise<Served> {
    const words = ['up', '--skills', '--port', '0', '--json', '--journal', 'team.db', '--agents', AGENTS];
    const command = new Orrery(words, { cwd: folder, env: { XDG_RUNTIME_DIR: folder } });
    running.push(command);
    await command.printed('"ready"');
    return new Served(command);
  }

  async kill(): Promise<void> {
    this.#command.child.kill('SIGKILL');
    await this.#command.ended;
  }

  call(tool: string, args: object): Promise<Task> {
    return this.#post('/tasks/send', { id: crypto.randomUUID(), message: said({ tool, arguments: args }) });
  }

  answer({ id }: Task, data: object): Promise<Task> {
    return this.#post(`/tasks/${id}/send`, { message: said(data) });
  }

  async task({ id }: Task): Promise<Task> {
    return (await this.#fetch(`/tasks/${id}/get`)).json() as Promise<Task>;
  }

  /** What a tool answers. */
  async done(tool: string, args: object) {
    const task = await this.call(tool, args);
    if (task.status.state !== 'completed') throw new Error(JSON.stringify(task));
    return task.artifacts?.[0]?.parts[0]?.data;
  }

  async #post(path: string, body: object): Promise<Task> {
    const response = await this.#fetch(path, { method: 'POST', body: JSON.stringify(body) });
    return response.json() as Promise<Task>;
  }

  #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` };
    return fetch(`${this.#url}${path}`, { ...init, headers });
  }
}

const AGENTS = new URL('../fixtures/talker.agent.ts', import.meta.url).pathname;
const said = (data: object) => ({ role: 'user', parts: [{ type: 'data', data }] });

describe('orrery up --skills', () => {
  it('goes on with a question after a kill -9 between question and answer (A-08, A-09)', async () => {
    const first = await Served.start();
    const subject = 'limit';
    await first.done('memory_add', { content: 'Ten at a time', subject });
    const { memory_id } = await first.done('memory_add', { content: 'Twenty', subject, layer: 'project' });
    const asked = await first.call('memory_update', { subject, content: 'Thirty' });
    expect(asked.status.state).toBe('input-required');
    await first.kill();
    const next = await Served.start();
    expect((await next.task(asked)).status).toMatchObject({ state: 'input-required' });
    const answered = await next.answer(asked, { which: { action: 'accept', content: { memory_id } } });
    expect(answered).toMatchObject({ status: { state: 'completed' } });
    expect(await next.done('memory_get', { memory_id, history: true })).toMatchObject({
      memory: { content: 'Thirty', version: 2 },
      history: [{ content: 'Twenty' }],
    });
  });

  it('has all that it said was remembered, after a kill -9 at any moment', async () => {
    const acknowledged: string[] = [];
    let attempts = 0;
    for (let round = 0; round < 3; round++) {
      const served = await Served.start();
      const writing = Array.from({ length: 4 }, async () => {
        for (;;) {
          attempts += 1;
          const { memory_id } = await served.done('memory_add', {
            content: `Fact ${attempts} of round ${round}`,
          });
          acknowledged.push(memory_id);
        }
      });
      const ended = Promise.allSettled(writing);
      const wanted = acknowledged.length + 20 + 7 * round;
      await until('some are remembered', () => acknowledged.length >= wanted);
      await served.kill();
      await ended;
    }
    const served = await Served.start();
    const { memories, next } = await served.done('memory_list', { limit: 500 });
    const ids = memories.map((memory: { readonly memory_id: string }) => memory.memory_id);
    expect(next).toBeUndefined();
    expect(ids).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThanOrEqual(attempts);
  });

  it('reads the knowledge of the project, also after a kill -9 in the middle of that (A-10, A-11)', async () => {
    mkdirSync(join(folder, '.orrery/knowledge'), { recursive: true });
    const names = Array.from({ length: 400 }, (_, at) => `rule-${String(at).padStart(3, '0')}`);
    for (const name of names)
      writeFileSync(
        join(folder, '.orrery/knowledge', `${name}.md`),
        `---\ntype: policy\ntitle: The rule called ${name}\nstatus: accepted\n---\n\nText of ${name}.\n`,
      );
    const first = await Served.start();
    const cut = first.call('knowledge_sync', { source: 'project' }).catch(() => undefined);
    await until(
      'some are read',
      async () => (await first.done('knowledge_query', { limit: 1 })).totalCount > 0,
    );
    await first.kill();
    await cut;
    const next = await Served.start();
    const { added, unchanged, faults } = await next.done('knowledge_sync', { source: 'project' });
    expect([added + unchanged, faults]).toEqual([names.length, []]);
    const { items, totalCount } = await next.done('knowledge_query', { query: 'rule 399' });
    expect([totalCount, items[0].title]).toEqual([names.length, 'The rule called rule-399']);
  });

  it('says what is wrong with the options, before anything starts', async () => {
    expect(await orrery('up', '--skills-store', 'x.sqlite')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Option "--skills-store" is given without "--skills"'),
    });
    const url = 'postgres://someone:secret@127.0.0.1/skills';
    const refused = await orrery('up', '--skills', '--skills-store', url);
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining('env:NAME') });
    expect(refused.stderr).not.toContain('secret');
  });
});
