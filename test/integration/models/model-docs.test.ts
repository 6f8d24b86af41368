import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelLimits } from '../../../actors/models/model-agent-options.ts';
import { ModelMemory } from '../../../actors/models/model-memory.ts';
import { type ModelServer, startModelServer } from '../../fixtures/model-server.ts';
import { pageOf, SampleFolder, samplesOf } from '../../fixtures/samples.ts';

const page = pageOf('docs/model-agents.md');
const SAMPLES = samplesOf(page).map(({ code }) => code);
/** The endpoint of the samples, in whose place a server of the test is asked. */
const ENDPOINT = 'http://127.0.0.1:8080/v1';

/** The agents whose tools the samples name, and one that they do not. */
const OTHERS = `
import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const about = { input: z.object({}), output: z.string() };
const who = (id: string) => ({ id, name: id.toUpperCase(), version: '1.0.0', description: id, tier: 3 }) as const;
const tool = (agent: string, id: string) =>
  defineAgent(who(agent)).handle(capability({ id, description: id, ...about }), () => 'no fault is found');
export const others = [tool('mars', 'types.check'), tool('jupiter', 'shape.check'), tool('venus', 'paint')];
`;

let folder: SampleFolder;
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
  folder = new SampleFolder();
  folder.write('others.ts', OTHERS);
  folder.write('reviewer.agent.ts', SAMPLES[0]?.replace(ENDPOINT, server.url) ?? '');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** What a program prints that stands in the folder of the samples. */
async function outputOf(name: string, text: string): Promise<string> {
  folder.write(name, text);
  return folder.run(name);
}

describe('docs/model-agents.md', () => {
  it('shows an agent, how it is asked, and how a simulation answers for its model', () => {
    expect(SAMPLES).toHaveLength(3);
    expect(SAMPLES[0]).toMatch(/^\/\/ reviewer\.agent\.ts\n/);
    expect(SAMPLES[0]?.split(ENDPOINT)).toHaveLength(2);
  });

  it('has an agent that calls the tools it names, answers, and streams', async () => {
    server.script([
      { calls: [{ id: 'a', name: 'mars__types_check', args: '{}' }] },
      { text: 'It is sound.' },
      { text: 'No fault is found.', pieces: 6 },
    ]);
    const printed = await outputOf(
      'main.ts',
      `import { others } from './others.ts';\n${SAMPLES[1]}\nprocess.stdout.write(\`\\n\${text}\\n\`);`,
    );
    expect(printed.trim().split('\n')).toEqual(['No fault is found.', 'It is sound.']);
    const [first, second, third] = server.requests.map(({ body }) => body);
    expect(first).toMatchObject({
      model: 'qwen3-8b',
      messages: [{ role: 'system' }, { content: 'Is it sound?' }],
    });
    expect(first?.messages[0]?.content).toContain('You review program text. Be brief.');
    expect(first?.tools?.map(({ function: { name } }) => name)).toEqual([
      'mars__types_check',
      'jupiter__shape_check',
    ]);
    expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'no fault is found' });
    expect(third).toMatchObject({ stream: true, messages: [{}, { content: 'And why?' }] });
    expect(server.requests).toHaveLength(3);
  });

  it('has a simulation that answers in place of the model', async () => {
    const before = server.requests.length;
    const printed = await outputOf(
      'simulated.ts',
      `import { simulate } from 'orrery/simulate';
import { answer } from 'orrery/models';
import { others } from './others.ts';
import { reviewer } from './reviewer.agent.ts';

const { error } = await simulate({
  seed: 1,
  agents: [reviewer, ...others],
  ${SAMPLES[2]},
  run: async (team) => {
    console.log(await team.ask({ agent: 'reviewer', capability: answer }, { prompt: 'Is it sound?' }));
  },
});
if (error !== undefined) throw error;
`,
    );
    expect([printed.trim(), server.requests.length]).toEqual(['It is sound.', before]);
  });

  it.each<[string, object]>([
    ['Limits', ModelLimits.parse({})],
    ['Memory', { layers: 'all', tags: 'all', ...ModelMemory.parse({}) }],
  ])('says what everything of "%s" is by default', (section, defaults) => {
    const rows = [...sectionOf(section).matchAll(/^\| (`[a-z][A-Za-z]+`[^|]*) \| ([^|]*) \|/gm)].slice(1);
    const said = rows.flatMap(([, names = '', values = '']) => {
      const each = values.split(/, (?=\S)/);
      return names.split(', ').map((name, at) => [name, each[at] ?? each[0]].map(plain));
    });
    const are = Object.entries(defaults).map(([name, value]) => [name, String(value)]);
    expect(new Map(said as [string, string][])).toEqual(new Map(are as [string, string][]));
  });
});

/** Names and numbers as they are in a table. */
const plain = (text = ''): string => text.replaceAll(/[`,]/g, '');
const sectionOf = (name: string): string =>
  page.split(/^## /m).find((one) => one.startsWith(`${name}\n`)) ?? '';
