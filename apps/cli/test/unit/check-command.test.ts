import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { orreryHere } from '../run-here.ts';

const WORKSHOP = fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url));
const DEFAULTS = {
  version: 1,
  code: { gates: [{ name: 'test', run: ['npm', 'test'], timeoutMs: 60_000 }], protect: ['test/**'] },
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-check-'));
  writeFileSync(join(folder, 'orrery.json'), JSON.stringify(DEFAULTS));
  mkdirSync(join(folder, 'specs/001-cart'), { recursive: true });
  writeFileSync(
    join(folder, 'specs/001-cart/tasks.md'),
    '# Tasks: Cart\n- [x] T001 Begin\n- [ ] T002 Schema\n- [ ] T003 [P] Page\n- [ ] T004 [P] Server \u001B[31m\n- [ ] T005 Docs\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const check = (...words: readonly string[]) =>
  orreryHere('check', ...words, '--repo', folder, '--agents', WORKSHOP);

describe('orrery check', () => {
  it('says what the only mission of a repository would do, and lets no terminal act on it', async () => {
    const { code, stdout, stderr } = await check();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, ...lines] = stdout.trimEnd().split('\n');
    expect(
      lines.filter((line) => !/^ {2}agents/.test(line)).map((line) => line.replace(/ {2,}/g, '  ')),
    ).toEqual([
      '',
      '  format  checklist',
      '  tasks  4, and 1 left out',
      '  needs  code.change',
      '  at a time  as many as the machine has cores',
      '  critical path  3 tasks: T002 -> T003 -> T005',
      '  at worst  12 attempts, 744 min 0 s, no limit of dollars',
      '',
      'Changes',
      '  branch  orrery/ and the name Tasks: Cart',
      '  from  HEAD',
      '  protected  test/**',
      '  may  edit',
      '',
      'Gates',
      '  test  npm test  of every task',
      '',
      'Wave 1',
      '  T002  Schema',
      '',
      'Wave 2',
      '  T003  Page  after T002',
      '  T004  Server \\x1b[31m  after T002',
      '',
      'Wave 3',
      '  T005  Docs  after T003, T004',
      '',
      'Left out',
      '  T001  it is done',
    ]);
  });

  it('says which variables are named for whom, whether they are set, and never what is in them', async () => {
    const file = join(folder, 'named.json');
    const named = {
      version: 1,
      name: 'named',
      code: {
        setup: { run: 'npm ci', passEnv: ['CHECKED_TOKEN'] },
        gates: [{ name: 'e2e', run: 'npm run e2e', passEnv: ['CHECKED_EMPTY'] }],
        backends: ['codex', { id: 'claude', env: ['CHECKED_KEY'] }],
      },
      limits: { maxAttempts: 1 },
      tasks: [{ id: 'a', title: 'A' }],
    };
    writeFileSync(file, JSON.stringify(named));
    vi.stubEnv('CHECKED_TOKEN', 'sesame-open-now');
    vi.stubEnv('CHECKED_EMPTY', '');
    const { stdout } = await orreryHere('check', file, '--repo', folder);
    const typed = await orreryHere('check', file, '--repo', folder, '--json', '--backend', 'codex');
    vi.unstubAllEnvs();
    expect(stdout.replace(/ {2,}/g, '  ')).toContain(
      '\nVariables\n  CHECKED_TOKEN  for the setup  set\n  CHECKED_EMPTY  for gate e2e  empty\n  CHECKED_KEY  for agent claude  not set\n',
    );
    expect(stdout).toContain('npm ci\n');
    const { variables } = JSON.parse(typed.stdout) as { variables: readonly { name: string }[] };
    expect(variables.map(({ name }) => name)).toEqual(['CHECKED_TOKEN', 'CHECKED_EMPTY']);
    expect(stdout + typed.stdout).not.toContain('sesame');
  });

  it('says it as JSON', async () => {
    const { stdout } = await check('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'checklist',
      waves: [['T002'], ['T003', 'T004'], ['T005']],
      criticalPath: ['T002', 'T003', 'T005'],
      atWorst: { attempts: 12, timeMs: 12 * 3_720_000 },
      agents: [expect.stringContaining('workshop.agent.ts')],
      leftOut: [{ key: 'T001' }],
    });
  });

  it('ends with 64 and every fault', async () => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, '{"version":1,"name":"m","limits":{},"tasks":[]}');
    const { code, stderr } = await check(file);
    expect(code).toBe(64);
    expect(stderr).toContain('limits: no limit');
    expect(stderr).toContain('tasks: Too small');
  });

  it('lists the missions where there are several', async () => {
    const file = join(folder, 'prd.json');
    writeFileSync(file, '{}');
    const { code, stderr } = await check();
    rmSync(file);
    expect(code).toBe(64);
    expect(stderr).toMatch(/several missions.*prd\.json.*specs\/001-cart\/tasks\.md/s);
  });

  it('prints the schema of missions, and nothing with it', async () => {
    const { code, stdout } = await orreryHere('check', '--schema');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'A mission of Orrery', type: 'object' });
    expect(await orreryHere('check', '--schema', '--json')).toMatchObject({ code: 64 });
  });
});
