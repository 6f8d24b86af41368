import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CodeProject, edit } from '../code-project.ts';

const KEY = 'acme-open-sesame-1';
const TOKEN = 'gate-open-sesame-2';
const CLAUDE = 'proxy-open-sesame-3';

/** The files below a folder that a text is in. */
const filesWith = (text: string, folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = join(folder, name);
    return statSync(file).isFile() && readFileSync(file).includes(text);
  });

describe('the secrets that a mission names', () => {
  it('reach the programs that they are named for and no others, and stand in nothing that is kept or shown', async () => {
    const secrets = { ACME_API_KEY: KEY, GATE_TOKEN: TOKEN };
    using project = new CodeProject({}, secrets);
    project.plan({ a: [edit('a.txt', 'WRONG\n', { say: `My key is ${KEY}` }), edit('a.txt', 'one\n')] });
    // Both fail without what they need.
    const acme = ['sh', '-c', '[ -n "$ACME_API_KEY" ] && exec acp-agent'];
    const says = 'echo "token: $GATE_TOKEN; key: $ACME_API_KEY"';
    project.missionOf([{ id: 'a', title: 'Write a' }], {
      code: {
        backends: [{ id: 'acme', command: acme, acp: true, env: ['ACME_API_KEY', 'ACME_OTHER_KEY'] }],
        setup: { run: `${says}; [ -n "$GATE_TOKEN" ]`, passEnv: ['GATE_TOKEN'] },
        gates: [
          { name: 'other', run: says },
          { name: 'mine', run: `${says}; ! grep WRONG a.txt`, passEnv: ['GATE_TOKEN'] },
        ],
      },
    });

    const { code, report, stdout, stderr } = await project.run('--verbose');

    const [task] = report.tasks;
    expect({ code, task }).toMatchObject({ code: 0, task: { status: 'accepted' } });
    expect(task?.attempts.map(({ ended }) => ended)).toEqual(['refused', 'accepted']);
    expect(stderr).toBe(
      'orrery: code.backends[0].env[1]: the variable ACME_OTHER_KEY, for agent acme, is not set\n',
    );
    const logs = (task?.receipts ?? []).map(({ logFile }) => readFileSync(logFile, 'utf8'));
    expect(new Set(logs)).toEqual(new Set(['token: ; key: \n', 'token: [hidden]; key: \n']));
    expect(stdout).toContain('My key is [hidden]');
    for (const secret of Object.values(secrets)) {
      expect(stdout).not.toContain(secret);
      expect(filesWith(secret, project.folder).filter((file) => file !== 'plan.json')).toEqual([]);
    }
  });

  it('are given to a program that is known by its id alone beside its own', async () => {
    const own = { ANTHROPIC_API_KEY: 'own-open-sesame-4', PROXY_PASSWORD: CLAUDE, OTHER_TOKEN: 'no' };
    using project = new CodeProject({}, own);
    const record = join(project.folder, 'asked.jsonl');
    project.plan({ a: [edit('a.txt', 'one\n', { record })] });
    project.missionOf([{ id: 'a', title: 'Write a' }], {
      code: { backends: [{ id: 'claude', env: ['PROXY_PASSWORD'] }] },
    });
    const { code, stderr } = await project.run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { env } = JSON.parse(readFileSync(record, 'utf8')) as { env: NodeJS.ProcessEnv };
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: 'own-open-sesame-4', PROXY_PASSWORD: CLAUDE });
    expect(env).not.toHaveProperty('OTHER_TOKEN');
  });
});
